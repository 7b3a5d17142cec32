"""The study of a walk: joint angles, moments and powers of a subject's trials, or of the synthetic trial.  Seed 002."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from models import gait as leg_foot
from models import gait_analysis, gait_contact_study, normative, synthetic_gait
from models.gait_analysis import JOINTS, PERCENT, Filters, Gait
from models.subject import GRAVITY
from runtime import Capture, ModelError, Report, Table, plots, read_capture, write_storage

Floats = NDArray[np.float64]

# OpenSim's axes of the laboratory: x forwards, y up, z to the right; ours: x forwards, y to the left, z up.
OPENSIM = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, -1.0, 0.0]])
SIDES, TOES, SEXES = ("auto", "right", "left"), ("auto", "guided", "locked"), ("female", "male")


def gait(
    folder: Path,
    say: Callable[[str], None],
    *,
    files: tuple[Path, ...] = (),
    side: str = "auto",
    mass: float | None = None,
    height: float | None = None,
    sex: str | None = None,
    filter: bool = True,
    marker_cutoff: float = 6.0,
    cop_cutoff: float = 15.0,
    force_cutoff: float = 20.0,
    order: int = 3,
    longest_gap: Annotated[float, "or 0"] = 0.1,
    toes: str = "auto",
    forces: list[str] | None = None,
    marker: list[str] | None = None,
    up: str | None = None,
    units: str | None = None,
    contact: bool = False,
) -> Report:
    """Joint angles, moments and powers of a walking subject's ankle and foot; without files, of a synthetic trial.

    Parameters
    ----------
    folder : Path
        Where tables, figures and data go.
    say : callable(str)
        Is told what is being done.
    files : Path
        STATIC TRIAL...: the trial in which the subject stands still, then one walking trial or more of the same subject with
        the same markers (.c3d, .trc, .csv).
    side : str
        Foot: right, left, or auto, the one whose stance is on force plates as a whole.
    mass : float [kg]
        Of the subject, where the files do not tell it.
    height : float [m]
        Of the subject; needed only without markers on the knee.
    sex : str
        female or male, for the segments' inertia; the mean of both where it is not known.
    filter : bool
        Low-pass filter without lag; not for data that have been filtered already.
    marker_cutoff : float [Hz]
        Cut-off frequency of the markers.
    cop_cutoff : float [Hz]
        Cut-off frequency of the centre of pressure.
    force_cutoff : float [Hz]
        Cut-off frequency of the ground's force.
    order : int
        Order of one of the two passes of the Butterworth filter.
    longest_gap : float [s]
        Gaps of markers up to this length are filled by a spline, 0 for none; longer ones are refused.
    toes : str
        guided by their markers, locked, or auto: guided where they have markers.
    forces : list of str
        File of ground forces of each trial in order (.mot, .sto, .csv), where it is not found by its name.
    marker : list of str
        LANDMARK=LABEL, for labels of no known marker set; may be given several times.
    up : str
        Vertical axis of the files (x, y, z, -x, -y, -z), where they do not tell it.
    units : str
        Of the positions (mm, cm, m), where the files do not tell them.
    contact : bool
        Also put the nine spheres of seed 004 under the foot, fit them to the measured force, and compare.
    """
    for name, value, allowed in (("side", side, SIDES), ("toes", toes, TOES), ("sex", sex or SEXES[0], SEXES)):
        if value not in allowed:
            raise ModelError(f"{name} = {value!r}: use {', '.join(allowed)}")
    filters = Filters(marker_cutoff, cop_cutoff, force_cutoff, order, longest_gap)
    if not filter:
        filters = Filters.off(longest_gap)
    trials: list[tuple[str, Callable[[], Capture]]]
    report = Report("Joint angles, moments and powers of the ankle and foot in walking (seed 002)")
    if not files:
        say("no files: the synthetic trial, whose answer is known (the first start compiles for about a minute)")
        static, trials = synthetic_gait.static(), [("synthetic trial", synthetic_gait.trial)]
        filters, markers = Filters.off(), dict(synthetic_gait.MARKERS)
    else:
        if len(files) < 2:
            raise ModelError(f"talus gait {files[0]}: give the static trial and then one walking trial or more")
        if forces is not None and len(forces) != len(files) - 1:
            raise ModelError(
                f"--forces: {len(forces)} files for {len(files) - 1} trials; give one for each trial, in order"
            )
        if len(set(files[1:])) < len(files) - 1:
            raise ModelError("a walking trial is given twice; give each once")
        say(f"reading {files[0].name}")
        settings: dict[str, Any] = dict(up=up, units=units)
        static = read_capture(files[0], **settings)
        beside: Sequence[str | None] = forces or [None] * (len(files) - 1)
        trials = [
            (file.name, partial(read_capture, file, forces=force, **settings))
            for file, force in zip(files[1:], beside, strict=True)
        ]
        markers = _landmarks(marker or [])

    found: list[Gait] = []
    for name, get in trials:
        say(f"analysing {name}")
        try:
            one = gait_analysis.analyse(
                static, get(), side=None if side == "auto" else side, mass=mass, height=height, sex=sex,  # type: ignore[arg-type]
                markers=markers or None, filters=filters, toes=toes,  # type: ignore[arg-type]
            )  # fmt: skip
        except ModelError as error:
            if len(trials) == 1:
                raise
            report.failures.append(str(error))
            continue
        found.append(one)
    if not found:
        raise ModelError("; ".join(report.failures))
    sides = sorted({one.side for one in found})
    if len(sides) > 1:
        raise ModelError(
            f"the trials show different feet on the force plates ({', '.join(f'{one.name}: {one.side}' for one in found)}); "
            "their mean would mean nothing: give --side, or analyse them apart"
        )

    report.tables += [_subject_table(found[0]), _trials_table(found, filters), _peaks_table(found)]
    if not files:
        say("simulating the ankle and the toes, driven by the computed moments")
        report.tables.append(_recovery_table(found[0]))
    notes, figures = _notes(found), _figures(found)
    contacts = gait_contact_study.analyse(found, say) if contact else []
    if contacts:
        report.tables += gait_contact_study.tables(contacts)
        notes += [one.note for one in contacts]
        figures |= gait_contact_study.figures(contacts)
    report.tables.append(Table("notes", ["decided instead of read"], [[note] for note in notes]))
    say("figures and data")
    for name, figure in figures.items():
        report.files += plots.save(figure(), folder, name)
    report.files += _write(found, contacts, folder)
    report.write(folder)
    return report


def _landmarks(pairs: Sequence[str]) -> dict[str, str]:
    found = {}
    for pair in pairs:
        landmark, equals, label = pair.partition("=")
        if not (equals and landmark and label):
            raise ModelError(f"--marker {pair}: give LANDMARK=LABEL, such as heel=RHEE")
        found[landmark] = label
    return found


def _notes(found: Sequence[Gait]) -> list[str]:
    return list(dict.fromkeys(note for one in found for note in one.notes)) or ["nothing"]


# Quantities over the cycle, per kilogram where the literature has them so.


def curve(one: Gait, quantity: str, joint: str) -> Floats:
    """Angle [deg], moment [N m/kg] or power [W/kg] of a joint over the cycle, (101,)."""
    values = {"angle": one.angles, "moment": one.moments, "power": one.powers}[quantity][joint]
    scale = np.rad2deg(1.0) if quantity == "angle" else 1.0 / one.subject.mass
    return scale * one.over_cycle(values)


def vertical(one: Gait) -> Floats:
    """Vertical force of the ground over the cycle in body weights, (101,)."""
    return one.ground_over_cycle()[0][:, 2] / (one.subject.mass * GRAVITY)


def humps(force: Floats, toe_off: float) -> list[float]:
    """The greatest values in the first and the second half of stance, and the least between them.  (101,) over the cycle."""
    stance = force[: int(toe_off) + 1]
    middle = len(stance) // 2
    first, second = int(np.argmax(stance[:middle])), middle + int(np.argmax(stance[middle:]))
    return [float(stance[first]), float(stance[first : second + 1].min()), float(stance[second])]


def _joints(found: Sequence[Gait]) -> tuple[str, ...]:
    return JOINTS if all(one.toes_guided for one in found) else JOINTS[:2]


def _subject_table(one: Gait) -> Table:
    person = one.subject
    rows: list[list[Any]] = [
        ["mass", f"{person.mass:.1f} kg", person.sources["mass"]],
        ["foot", one.side, "the left foot is mirrored: medial is y" if one.side == "left" else ""],
        ["marker set", person.landmarks.marker_set, ", ".join(person.landmarks.labels.values())],
        ["leg, knee to ankle", f"{1e3 * person.leg_length:.0f} mm", person.sources["knee"]],
        ["foot, heel to toe", f"{1e3 * person.foot_length:.0f} mm", person.sources["foot length"]],
        ["massless link (talus)", f"{1e3 * person.link_length:.1f} mm", person.sources["link length"]],
        ["talocrural axis", _direction(person.talocrural.axes["leg"]), person.sources["talocrural axis"]],
        [
            "talocalcaneal axis",
            _direction(person.talocalcaneal.axes["main_foot"]),
            person.sources["talocalcaneal axis"],
        ],
        [
            "segments",
            ", ".join(f"{b.replace('_', ' ')} {s.mass:.2f} kg" for b, s in person.bodies.items()),
            person.sources["inertia"],
        ],
    ]
    return Table(f"subject: {person.name}", ["", "value", "from"], rows)


def _direction(axis: Floats) -> str:
    return ", ".join(f"{c:.3f}" for c in axis)


def _trials_table(found: Sequence[Gait], filters: Filters) -> Table:
    rows = [
        [
            one.name, one.cycle.strike, one.cycle.next_strike - one.cycle.strike, one.toe_off, one.speed,
            1e3 * float(np.sqrt(np.mean(one.residual**2))), 1e3 * float(one.residual.max()), one.cycle.source,
        ]
        for one in found
    ]  # fmt: skip
    columns = [
        "trial", "foot strike [s]", "cycle [s]", "toe off [%]", "speed [m/s]", "markers off, rms [mm]", "largest [mm]",
        "events from",
    ]  # fmt: skip
    note = (
        f"Markers off: distance of the markers from the model, root mean square of a frame.  Filters: {filters.text()}."
    )
    return Table("trials", columns, rows, note)


def _peaks_table(found: Sequence[Gait]) -> Table:
    """What the literature quotes: mean and SD over the trials, and of the 14 adults."""
    per_trial: list[dict[str, float]] = []
    for one in found:
        talocrural, calcaneal = (one.over_cycle(one.angles[j]) for j in JOINTS[:2])
        force = humps(vertical(one), one.toe_off)
        values = {
            "dorsiflexion, greatest [deg]": np.rad2deg(talocrural.max()),
            "plantarflexion, greatest [deg]": -np.rad2deg(talocrural.min()),
            "inversion, range [deg]": np.rad2deg(np.ptp(calcaneal)),
            "plantarflexor moment [N m/kg]": -curve(one, "moment", "talocrural").min(),
            "inversion moment [N m/kg]": curve(one, "moment", "talocalcaneal").max(),
            "talocrural power, generated [W/kg]": curve(one, "power", "talocrural").max(),
            "talocrural power, absorbed [W/kg]": curve(one, "power", "talocrural").min(),
            "vertical force, first hump [BW]": force[0],
            "vertical force, valley [BW]": force[1],
            "vertical force, second hump [BW]": force[2],
        }
        per_trial.append({name: float(value) for name, value in values.items()})
    rows = []
    for name in per_trial[0]:
        values_of = np.array([values[name] for values in per_trial])
        sd = float(values_of.std(ddof=1)) if len(values_of) > 1 else None
        rows.append([name, float(values_of.mean()), sd, LITERATURE.get(name, "")])
    note = (
        "Literature: mean ± SD of 14 adults who walked barefoot at the speed they chose (Schreiber and Moissenet 2019)."
    )
    return Table("peaks", ["", "mean", "SD", "literature"], rows, note)


LITERATURE = {
    "dorsiflexion, greatest [deg]": "9.2 ± 3.1",
    "plantarflexion, greatest [deg]": "18.3 ± 4.0",
    "plantarflexor moment [N m/kg]": "1.33 ± 0.13",
    "inversion moment [N m/kg]": "0.36 ± 0.07",
    "talocrural power, generated [W/kg]": "3.25 ± 0.87",
    "talocrural power, absorbed [W/kg]": "-0.69 ± 0.24",
    "vertical force, second hump [BW]": "1.14 ± 0.08",
}


def recovered(one: Gait) -> dict[str, float]:
    """How far an analysis of the synthetic trial is from what went in, as parts of the greatest values, by quantity."""
    exact = synthetic_gait.exact(one.t)
    errors = {}
    for joint in JOINTS:
        for quantity, values in (("angle", one.angles), ("moment", one.moments), ("power", one.powers)):
            if joint == "metatarsophalangeal" and quantity != "angle":
                continue  # the analysis lets the force go over to the toes, the synthetic one stays on the main foot
            truth = exact[joint, quantity]
            errors[f"{joint} {quantity}"] = float(np.abs(values[joint] - truth).max() / np.abs(truth).max())
    return errors


def replayed() -> tuple[float | None, float]:
    """How far a forward simulation of the synthetic stance, by the computed moments, is from the motion, and its feedback.

    In [rad], None where it failed, and [N m].
    """
    stance = np.linspace(0.0, synthetic_gait.STANCE * synthetic_gait.CYCLE, 62)
    subject = synthetic_gait.subject()
    run, motion, feedback = leg_foot.replay(
        subject, synthetic_gait.coordinates(), synthetic_gait.ground(), synthetic_gait.STRIKE + stance
    )
    there, back = leg_foot.angles(motion, subject), leg_foot.angles(run, subject)
    off = [float(np.abs(back[joint] - there[joint][: len(run.t)]).max()) for joint in there]
    return max(off) if run.success else None, feedback


def _recovery_table(one: Gait) -> Table:
    rows: list[list[Any]] = [[name, error, 1e-6] for name, error in recovered(one).items()]
    back, feedback = replayed()
    rows.append(["forward simulation against the motion [rad]", back, 1e-6])
    note = (
        "Errors relative to the greatest value, of what went in.  Forward simulation: ankle and toes driven by the computed "
        f"moments through stance; a stiffness that keeps it stable added {feedback:.1e} N m at most."
    )
    return Table("synthetic trial: recovered", ["", "error", "limit"], rows, note)


# Figures


def _figures(found: Sequence[Gait]) -> dict[str, Callable[[], Any]]:
    toe_off = float(np.mean([one.toe_off for one in found]))

    def panel(quantity: str, joint: str, unit: str, norm: str | None = None, sign: float = 1.0) -> plots.Panel:
        curves = np.array([curve(one, quantity, joint) for one in found])
        band = None
        if norm is not None:
            _, mean, sd = normative.band(norm)
            scale = np.rad2deg(1.0) if quantity == "angle" else 1.0
            band = (sign * scale * mean, scale * sd)
        return plots.Panel(f"{joint} {quantity}", f"{SENSES[joint]} {quantity} [{unit}]", curves, toe_off, band)

    fig5 = [
        panel("angle", "talocrural", "deg", "dorsiflexion"),
        panel("angle", "talocalcaneal", "deg", "hindfoot_inversion"),
        panel("moment", "talocrural", "N m/kg", "plantarflexor_moment", -1.0),
        panel("moment", "talocalcaneal", "N m/kg", "inversion_moment"),
    ]
    fig7 = [panel("power", "talocrural", "W/kg", "ankle_power"), panel("power", "talocalcaneal", "W/kg")]
    if all(one.toes_guided for one in found):
        fig5 += [
            panel("angle", "metatarsophalangeal", "deg", "toe_extension"),
            panel("moment", "metatarsophalangeal", "N m/kg"),
        ]
        fig7.append(panel("power", "metatarsophalangeal", "W/kg"))
    forces = [
        plots.Panel(
            f"{name} force", f"{name} [body weights]",
            np.array([one.ground_over_cycle()[0][:, k] / (one.subject.mass * GRAVITY) for one in found]), toe_off,
            normative.band(f"{name}_force")[1:],
        )
        for k, name in enumerate(("anterior", "medial", "vertical"))
    ]  # fmt: skip
    person = found[0].subject
    landmarks = {
        name.replace("_", " "): person.bodies["main_foot"].markers[label][:2] - _heel(found[0])
        for name, label in person.landmarks.labels.items()
        if label in person.bodies["main_foot"].markers
    }
    return {
        "fig5_angles_and_moments": partial(plots.gait_cycles, fig5),
        "fig6_centre_of_pressure": partial(
            plots.under_the_foot, dict(zip(_stems(found), (one.cop_in_foot() for one in found), strict=True)), landmarks
        ),
        "fig7_powers": partial(plots.gait_cycles, fig7),
        "ground_forces": partial(plots.gait_cycles, forces, columns=3),
    }


SENSES = {"talocrural": "dorsiflexion", "talocalcaneal": "inversion", "metatarsophalangeal": "extension"}


def _heel(one: Gait) -> Floats:
    heel: Floats = one.subject.bodies["main_foot"].markers[one.subject.landmarks.labels["heel"]][:2]
    return heel


# Files


def _write(found: Sequence[Gait], contacts: Sequence[gait_contact_study.Contact], folder: Path) -> list[Path]:
    files = [folder / "gait.nc", folder / "curves.csv"]
    data = dataset(found)
    if contacts:
        data = gait_contact_study.add_to(data, contacts)
        files.append(gait_contact_study.write_csv(contacts, folder / "contact.csv"))
    data.to_netcdf(files[0], engine="scipy")
    _curves_csv(found, files[1])
    for one, stem in zip(found, _stems(found), strict=True):
        files += [
            _motion(one, folder / f"{stem}_angles.mot"),
            _efforts(one, folder / f"{stem}_moments.sto"),
            _forces(one, folder / f"{stem}_ground.mot"),
            one.motion.to_netcdf(folder / f"{stem}_motion.nc"),
        ]
    return files


def _stems(found: Sequence[Gait]) -> list[str]:
    """Names of the trials for files and legends."""
    return _numbered([Path(one.name).stem.replace(" ", "_").replace(",", "_") for one in found])


def _numbered(names: Sequence[str]) -> list[str]:
    """Names, with a number behind those that are the same."""
    return [name if names.count(name) == 1 else f"{name}_{names[: k + 1].count(name)}" for k, name in enumerate(names)]


def dataset(found: Sequence[Gait]) -> Any:
    """All curves over the cycle as an xarray Dataset: dimensions trial, joint, percent, axis."""
    import xarray

    joints = list(_joints(found))
    data: dict[str, Any] = {}
    for name, unit, meaning in (
        ("angles", "rad", "joint angle; dorsiflexion, inversion, extension positive"),
        ("moments", "N m", "moment of muscles and ligaments on the distal body about the joint's axis"),
        ("powers", "W", "moment times rate of the angle"),
    ):
        values = np.array([[one.over_cycle(getattr(one, name)[joint]) for joint in joints] for one in found])
        data[name] = (("trial", "joint", "percent"), values, {"units": unit, "long_name": meaning})
    forces = [one.ground_over_cycle() for one in found]
    axes = ("trial", "percent", "axis")
    data["ground_force"] = (axes, np.array([f[0] for f in forces]), {"units": "N", "long_name": "on the foot"})
    data["centre_of_pressure"] = (axes, np.array([f[1] for f in forces]), {"units": "m", "long_name": "NaN in swing"})
    data["free_moment"] = (("trial", "percent"), np.array([f[2] for f in forces]), {"units": "N m"})
    data["toe_off"] = (("trial",), np.array([one.toe_off for one in found]), {"units": "percent of the gait cycle"})
    data["mass"] = (("trial",), np.array([one.subject.mass for one in found]), {"units": "kg"})
    person = found[0].subject
    attributes = {
        "side": found[0].side,
        "axes": "x anterior, y medial, z up" + (", mirrored left foot" if found[0].side == "left" else ""),
        "subject": person.name,
        "sources": json.dumps(dict(person.sources)),
        "notes": "\n".join(_notes(found)),
    }
    coordinates = {
        "trial": [one.name for one in found],
        "joint": joints,
        "percent": ("percent", PERCENT, {"units": "percent of the gait cycle"}),
        "axis": ["x", "y", "z"],
    }
    return xarray.Dataset(data, coords=coordinates, attrs=attributes)


def _curves_csv(found: Sequence[Gait], file: Path) -> None:
    """Percent, mean and SD over the trials of every quantity, then every trial."""
    columns: dict[str, Floats] = {"percent": PERCENT}
    names = _numbered([one.name.replace(",", ";") for one in found])
    curves: Mapping[str, Callable[[Gait], Floats]] = {
        **{
            f"{joint}_{quantity} [{unit}]": partial(curve, quantity=quantity, joint=joint)
            for quantity, unit in (("angle", "deg"), ("moment", "N m/kg"), ("power", "W/kg"))
            for joint in _joints(found)
        },
        "vertical_force [BW]": vertical,
    }
    for name, of in curves.items():
        values = np.array([of(one) for one in found])
        columns[f"{name} mean"] = values.mean(axis=0)
        columns[f"{name} SD"] = values.std(axis=0, ddof=1) if len(found) > 1 else np.full(len(PERCENT), np.nan)
        columns |= {f"{name} {stem}": value for stem, value in zip(names, values, strict=True)}
    header = ",".join(columns)
    np.savetxt(file, np.column_stack(list(columns.values())), fmt="%.10g", delimiter=",", header=header, comments="")


def _motion(one: Gait, file: Path) -> Path:
    """Joint angles over time in degrees, as OpenSim reads coordinates."""
    values = np.column_stack([one.t, *(np.rad2deg(one.angles[joint]) for joint in JOINTS)])
    return write_storage(file, one.name, ["time", *(f"{joint}_angle" for joint in JOINTS)], values, in_degrees=True)


def _efforts(one: Gait, file: Path) -> Path:
    """Joint moments over time, as OpenSim's inverse dynamics writes them."""
    values = np.column_stack([one.t, *one.moments.values()])
    return write_storage(file, one.name, ["time", *(f"{joint}_angle_moment" for joint in one.moments)], values)


def _forces(one: Gait, file: Path) -> Path:
    """The ground's force over time in OpenSim's names and axes (x forwards, y up, z right), walking along x."""
    g = one.ground
    medial = 1.0 if one.side == "right" else -1.0  # undoes the mirror of a left foot
    turn = OPENSIM @ np.diag([1.0, medial, 1.0])
    force, point = g.force @ turn.T, np.nan_to_num(g.cop @ turn.T)
    moment = np.zeros_like(force)
    moment[:, 1] = medial * g.free_moment
    letter = one.side[0]
    names = [f"ground_force_{letter}_{kind}{axis}" for kind in "vp" for axis in "xyz"]
    names += [f"ground_torque_{letter}_{axis}" for axis in "xyz"]
    return write_storage(file, one.name, ["time", *names], np.column_stack([g.t, force, point, moment]))
