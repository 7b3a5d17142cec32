"""The study of landings: a foot with two axes on an incline, with and without an orthosis; the orthosis that a limit needs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Annotated

import numpy as np

from models.foot_muscles import muscles_of
from models.foot_orthosis import orthosis_values
from models.papers import cited
from models.studies import measures
from models.studies.landing import tables
from models.studies.landing.design import Design, designed
from models.studies.landing.figures import figures, label_of
from models.studies.landing.runs import ANGLES, ANKLES, AT_REST, OF_MUSCLES, UNITS, Case, Control, landed, scaled
from models.studies.options import MAX_CASES, numbers, orthosis_option, refuse_unused
from runtime import ModelError
from runtime.figures import PNG, FigureFormat
from runtime.report import Report, write_report
from runtime.report.figure_files import FigureFiles
from runtime.support import positive

NONE = "none"
BOTH = "invertors,evertors"
DELAY = 0.06  # [s] of DeMers et al. (2017)
SOURCE = (
    "B. R. Shuman, E. Russell Esposito: Multiplanar stiffness of commercial carbon composite ankle-foot orthoses, Journal of "
    "Biomechanical Engineering 144, 011004 (2021), doi 10.1115/1.4051845; stiffnesses of the orthoses."
)
ISB = (
    "G. Wu et al.: ISB recommendation on definitions of joint coordinate system of various joints for the reporting of human "
    "joint motion, part I: ankle, hip, and spine, Journal of Biomechanics 35, 543-548 (2002), doi 10.1016/S0021-9290(01)00222-6."
)

DELP = (
    "S. L. Delp, J. P. Loan, M. G. Hoy, F. E. Zajac, E. L. Topp, J. M. Rosen: An interactive graphics-based model of the lower "
    "extremity to study orthopaedic surgical procedures, IEEE Transactions on Biomedical Engineering 37, 757-767 (1990), doi "
    "10.1109/10.102791; muscles, as in gait2392 of OpenSim (CC BY 3.0)."
)
DEMERS = (
    "M. S. DeMers, J. L. Hicks, S. L. Delp: Preparatory co-activation of the ankle muscles may prevent ankle inversion injuries, "
    "Journal of Biomechanics 52, 17-23 (2017), doi 10.1016/j.jbiomech.2016.11.002; co-activation, and reflexes after 60 ms."
)
YODER = (
    "A. J. Yoder, A. J. Petrella, S. Farrokhi: Sensitivity of a subject-specific ankle sprain simulation to extrinsic versus "
    "intrinsic biomechanical factors, Frontiers in Bioengineering and Biotechnology 9, 765331 (2021), doi "
    "10.3389/fbioe.2021.765331; invertors and evertors."
)


# Above 60 lines: the options of the command and their help.
def landing(
    folder: Path,
    say: Callable[[str], None],
    *,
    incline: Annotated[str, "as incline_deg"] = "20",
    height: Annotated[str, "as clearance"] = "0.05",
    pitch: str = "0",
    roll: str = "0",
    dorsiflexion: str = "0",
    inversion: str = "0",
    friction: Annotated[str, "as mu_c"] = "1",
    co_activation: str = "0",
    co_activation_of: str | None = None,
    reflex: str = "0",
    reflex_of: str | None = None,
    reflex_delay: float | None = None,
    orthosis: str = "stiff",
    scale: str | None = None,
    keep_inversion_below: float | None = None,
    angle: str = "subtalar",
    ankle: str = "modified",
    after: float = 0.2,
    tolerance: measures.Tolerance = 1e-8,
    figure_format: FigureFormat = PNG,
) -> Report:
    """Land a foot on an incline, with and without an orthosis or muscles, with the modified beside the classical ankle.

    Each number takes several values, separated by commas or as FIRST:LAST:COUNT, and all combinations land.  With
    ``keep_inversion_below``: the least stiffness of the orthosis that keeps this limit.  With ``co_activation`` or ``reflex``
    each case lands without muscles, with those across the ankle at rest, and with these activated, from its touch-down on.

    Parameters
    ----------
    folder : Path
        Where tables, figures and data are written.
    say : callable(str)
        Receives a line for each stage of the work.
    incline : str [deg]
        Of the ground, which descends laterally and inverts the foot.
    height : str [m]
        Of the lowest sphere of the sole above the ground at the start, along its normal.
    pitch : str [deg]
        Of leg and foot at the start; positive raises the toes.
    roll : str [deg]
        Of leg and foot at the start; positive raises the medial border.
    dorsiflexion : str [deg]
        Of the ankle at the start.
    inversion : str [deg]
        Of the ankle at the start.
    friction : str
        Coefficient of Coulomb friction.
    co_activation : str
        Excitation of muscles from 0 to 1, at which they have been for long.
    co_activation_of : str
        Groups or muscles that are co-activated, separated by commas: invertors, evertors, plantarflexors, dorsiflexors, all.
        Default: invertors,evertors.
    reflex : str
        Gain of a reflex of muscles at rest, or co-activated: excitation at a lengthening speed of the maximum contraction
        velocity.
    reflex_of : str
        Groups or muscles that the reflex acts on.  Default: invertors,evertors.
    reflex_delay : float [s]
        After which the reflex acts.  Default: 0.06.
    orthosis : str
        none, flexible, medium, stiff, or a .toml file with the keywords of Builder.orthosis, such as stiffness = [200, 40, 17] in
        N m/rad.
    scale : str
        Factors on the stiffness of the orthosis; 1 unless given.
    keep_inversion_below : float [deg]
        Find the least stiffness of the orthosis, in its proportions, with which inversion stays below this limit.
    angle : str
        Inversion that is limited and drawn over varied numbers: subtalar, about the axis of the hinge, or isb (Wu et al. 2002).
    ankle : str
        The ankle that the answer begins with and the animation shows: modified or classical.
    after : float [s]
        Simulated time after touch-down; without muscles the leg topples in the long run.
    tolerance : float
        Relative and absolute tolerance of the integration.
    figure_format : FigureFormat
        Formats of the figures and dots per inch.
    """
    drawn = FigureFiles(folder, figure_format)
    for name, value, known in (("ankle", ankle, ANKLES), ("angle", angle, ANGLES)):
        if value not in known:
            raise ModelError(f"{name} = {value!r}; use {', '.join(known)}")
    positive(after, "after")
    texts = (incline, height, pitch, roll, dorsiflexion, inversion, friction, co_activation, reflex)
    lists = {name: numbers(name, text) for name, text in zip(UNITS, texts, strict=True)}
    lists |= {name: tuple(sorted({0.0, *lists[name]})) for name in OF_MUSCLES}  # each case also without them
    active = {name: len(lists[name]) > 1 for name in OF_MUSCLES}
    unused = "--{} belongs to --%s, which is 0; give it too, or leave this out"
    refuse_unused(not active["co_activation"], unused % "co-activation", co_activation_of=co_activation_of)
    refuse_unused(not active["reflex"], unused % "reflex", reflex_of=reflex_of, reflex_delay=reflex_delay)
    control = None
    if any(active.values()):
        lists["co_activation"] = tuple(sorted({AT_REST, *lists["co_activation"]}))  # what muscles at rest do
        of = [_groups(name, text) for name, text in (("co-activation", co_activation_of), ("reflex", reflex_of))]
        control = Control(*of, _delay(reflex_delay, after) if active["reflex"] else DELAY)
    varied = tuple(name for name in UNITS if len(lists[name]) > 1)
    cases = [Case(*values, control) for values in product(*lists.values())]
    cases = [one for one in cases if one.co_activation or not one.reflex]  # a reflex needs muscles
    of_stiffness = {"scale": scale, "keep_inversion_below": keep_inversion_below}
    asked = [name for name, value in of_stiffness.items() if value is not None]
    if asked and orthosis == NONE:
        raise ModelError(f"{asked[0]}: the stiffness of an orthosis is varied, and orthosis = 'none'; name an orthosis")
    if keep_inversion_below is not None:
        positive(keep_inversion_below, "keep_inversion_below")
    values = None if orthosis == NONE else orthosis_values(orthosis_option(orthosis))
    scales: tuple[float | None, ...] = (None, *(_scales("1" if scale is None else scale) if values is not None else ()))
    orthosis = Path(orthosis).stem
    ankles = sorted(ANKLES, key=lambda name: name != ankle)
    count = len(cases) * len(ankles) * len(scales)
    if count > MAX_CASES:
        raise ModelError(
            f"{count} landings, limit {MAX_CASES}; give fewer values, or vary parameters by runtime.simulate_many"
        )
    if values is not None:
        cases[0].build(ankle, values, check_units=True)  # refuses values before the work begins
        if asked and all(map(np.array_equal, *(scaled(values, factor)["stiffness"] for factor in (1.0, 0.0)))):
            raise ModelError(
                f"{asked[0]}: each stiffness of the orthosis is 0, which no factor changes; give one above 0"
            )
    report = Report("A foot lands on an incline: the two-axis ankle with an orthosis")
    how = after, tolerance
    say(f"{count} landings: both ankles, conditions: {len(cases)}, orthoses: {len(scales)}")
    found = [landed(name, case, values, one, *how) for name in ankles for case in cases for one in scales]
    made: list[Design] = []
    if keep_inversion_below is not None and values is not None:
        limit = f"inversion {ANGLES[angle].words} below {keep_inversion_below:g} deg"
        say(f"{len(cases) * len(ankles)} designs, some seconds each: the least stiffness that keeps {limit}")
        for one in found:
            try:
                made += [designed(one, values, angle, keep_inversion_below, *how)] if one.scale is None else []
            except ModelError as error:
                report.failures.append(f"design, {ANKLES[one.ankle]}, {one.case.text(varied)}: {error}")
    report.failures += [
        f"{label_of(one, orthosis)}, {one.case.text(varied)}: {one.failure}" for one in found if one.failure
    ]
    found = [one for one in found if not one.failure]
    if varied or len(scales) > 2:
        report.tables.append(tables.peaks(found, varied, orthosis, angle))
    report.tables.append(tables.landings(found, varied, orthosis, values))
    if made and values is not None:
        report.tables.append(tables.designs(made, varied, values))
        report.first = (report.tables[0].title, "designs")
    report.cite = [*cited("2024a", "2024c", "2011"), ISB, *([SOURCE] if values is not None else [])]
    if found:
        worst = max(found, key=lambda one: (one.case.muscles is None, one.scale is None, one.peak(angle)))
        most = replace(worst.case, **{name: lists[name][-1] for name in OF_MUSCLES})
        acting = [one for one in found if one.case == most and one.case.muscles and one.scale is None]
        at_rest = replace(worst.case, co_activation=AT_REST)
        report.answer = tables.answer(found, made, orthosis, worst.case, varied, dict.fromkeys((at_rest, most)))
        if acting:
            report.tables.append(tables.muscles(acting, angle))
            report.cite += [DELP, DEMERS, YODER]
        chosen = [one for one in found if one.case == worst.case and one.scale in (worst.scale, scales[-1])] + acting
        chosen += [one.landing for one in made if one.landing.case == worst.case and one.landing.scale]
        shown = {label_of(one, orthosis): one.run for one in chosen}
        for label, run in shown.items():
            file = folder / f"{label.replace(' ', '_').replace(',', '')}.nc"
            report.files.append(measures.thinned(run).to_netcdf(file))
        say("figures")
        drawn.add(figures(found, shown, worst, varied, orthosis, angle, keep_inversion_below, *acting[:1] or [None]))
        first, *others = shown
        drawn.add_motion(shown[first], name=first, beside={label: shown[label] for label in others})
    write_report(report, folder, figures=drawn)
    return report


def _groups(what: str, text: str | None) -> tuple[str, ...]:
    """Groups or muscles, separated by commas."""
    names = tuple(name.strip() for name in (BOTH if text is None else text).split(","))
    muscles_of(names, what)
    return names


def _delay(given: float | None, after: float) -> float:
    """The delay of reflexes [s], which ends before the landing does."""
    delay = DELAY if given is None else given
    if not 0.0 <= delay < after:
        raise ModelError(
            f"--reflex-delay = {delay:g} s: must be 0 or more and less than the {after:g} s after touch-down, within which the "
            "reflex acts; give another one, or --after"
        )
    return delay


def _scales(text: str) -> tuple[float, ...]:
    """Factors on the stiffness, ascending."""
    found = tuple(sorted(numbers("scale", text)))
    if found[0] < 0.0:
        raise ModelError(f"scale = {text!r}: factors are 0 or more; with 0 damping, mass and straps act alone")
    return found
