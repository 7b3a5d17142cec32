"""The study of a walk: joint angles, moments and powers of a subject's trials, or of the synthetic trial.

Rodrigues da Silva et al. (n.d.); with contact, Moreira et al. (2011).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Any

from models.studies.emg_agreement import scaling_trials
from models.studies.gait import bands, electromyograms, tables
from models.studies.gait import contact as soles
from models.studies.gait import muscles as pulling
from models.studies.gait.moments import INTERNAL, Moments
from models.studies.gait.sources import DELP
from models.studies.gait.subject_report import TITLE, begin, finish, sentences, with_feet
from models.studies.muscle_report import CROWNINSHIELD
from models.studies.options import channels_option, cost_of, landmarks_option, orthosis_option, refuse_without_muscles
from models.walking import Anatomy, synthetic
from models.walking.both_feet import Trials, analyse_trials
from models.walking.capture import Capture, read_capture
from models.walking.gait_result import Gait
from models.walking.preparation import Filters
from runtime import ModelError
from runtime.figures import PNG, FigureFormat
from runtime.report import Report
from runtime.report.figure_files import FigureFiles

SIDES, TOES, SEXES = ("auto", "right", "left"), ("auto", "guided", "locked"), ("female", "male")
AXES = ("rule", "posterior")

Say = Callable[[str], None]


# Above 60 lines: the options of the command and their help.
def gait(
    folder: Path,
    say: Callable[[str], None],
    *,
    files: tuple[Path, ...] = (),
    side: str = "auto",
    mass: float | None = None,
    height: float | None = None,
    sex: str | None = None,
    subtalar_inclination: Annotated[float | None, "signed", "as subtalar_inclination_deg"] = None,
    subtalar_deviation: Annotated[float | None, "signed", "as subtalar_deviation_deg"] = None,
    talocrural_inclination: Annotated[float | None, "signed", "as talocrural_inclination_deg"] = None,
    talocrural_deviation: Annotated[float | None, "signed", "as talocrural_deviation_deg"] = None,
    link_length: float | None = None,
    functional: str | None = None,
    axes: str = "rule",
    foot_flat: bool = True,
    ankle_width: float | None = None,
    hip_centre: str = "harrington",
    inertia: str = "de_leva",
    check_units: bool = True,
    filter: bool = True,
    marker_cutoff: Annotated[float, "as filters: markers"] = 6.0,
    cop_cutoff: Annotated[float, "as filters: cop"] = 15.0,
    force_cutoff: Annotated[float, "as filters: forces"] = 20.0,
    order: Annotated[int, "as filters: order"] = 3,
    longest_gap: Annotated[float, "or 0", "as filters: longest_gap"] = 0.1,
    toes: str = "auto",
    forces: list[str] | None = None,
    marker: Annotated[list[str] | None, "as markers"] = None,
    up: str | None = None,
    units: str | None = None,
    contact: bool = False,
    orthosis: str | None = None,
    muscles: bool = False,
    muscle_cost: Annotated[str | None, "as cost"] = None,
    muscle_exponent: Annotated[float | None, "as exponent"] = None,
    muscle_strength: Annotated[float | None, "as strength"] = None,
    passive_forces: bool = False,
    emg_maximum: list[str] | None = None,
    emg_channel: Annotated[list[str] | None, "as channels"] = None,
    moments: str = INTERNAL.kind,
    plantarflexor_up: bool = False,
    figure_format: FigureFormat = PNG,
) -> Report:
    """Analyse walking: joint angles, moments and powers of foot, knee and hip.  Without files, a synthetic trial is analysed.

    Parameters
    ----------
    folder : Path
        Where tables, figures and data are written.
    say : callable(str)
        Receives a line for each stage of the work.
    files : Path
        STATIC TRIAL...: a trial of the subject standing still, then one or more walking trials of the same subject with the
        same markers (.c3d, .trc, .csv).
    side : str
        Foot to analyse: right, left, or auto, each foot with a complete stance on force plates.
    mass : float [kg]
        Mass of the subject, if the files do not contain it.
    height : float [m]
        Height of the subject; needed only without markers on the knee.
    sex : str
        Of the subject: female or male, for the inertia of the segments; without it the mean of both.
    subtalar_inclination : float [deg]
        Of the subtalar axis above the long axis of the foot, in the sagittal plane; default 41 (Isman and Inman 1969).
    subtalar_deviation : float [deg]
        Of the subtalar axis medial of the long axis of the foot, in the transverse plane; default 23 (Isman and Inman 1969).
    talocrural_inclination : float [deg]
        Of the talocrural axis above the medial direction of the foot, in the frontal plane; default by the malleoli.
    talocrural_deviation : float [deg]
        Of the talocrural axis anterior of the medial direction of the foot, in the transverse plane; default by the malleoli.
    link_length : float [m]
        Height of the talus; default 0.0417, in proportion to the length of the foot.
    functional : str
        File of a trial in which the subject moves the ankle, such as slow circles of the foot: axes that it identifies are used.
    axes : str
        Both axes of the ankle: rule; or posterior, with credible intervals: a population prior and the markers of the walking
        trial, and of --functional.
    foot_flat : bool
        The sole is flat on the floor in the static trial; switch it off for a subject who cannot put the heel down: angles are
        then zero where heel and metatarsal heads are equally high.
    ankle_width : float [m]
        Between the malleoli, where no marker is on the medial one (Plug-in Gait without medial markers).
    hip_centre : str
        Regression of the hip joint centre: harrington, or bell.
    inertia : str
        Table of the segments' masses and inertia: de_leva, or winter, which is after Dempster.
    check_units : bool
        Refuse axes and heights of the talus outside of the published ranges.
    filter : bool
        Apply a zero-lag low-pass filter; switch it off for data that are already filtered.
    marker_cutoff : float [Hz]
        Cut-off frequency of the markers.
    cop_cutoff : float [Hz]
        Cut-off frequency of the centre of pressure.
    force_cutoff : float [Hz]
        Cut-off frequency of the ground reaction force.
    order : int
        Order of each of the two passes of the Butterworth filter.
    longest_gap : float [s]
        Longest gap of a marker that is filled by a spline, 0 for none; longer gaps are refused.
    toes : str
        Motion of the toes: driven by their markers (guided), locked, or auto, which is guided if they have markers.
    forces : list of str
        File of ground forces of each trial, in order (.mot, .sto, .csv), if it is not found by its name.
    marker : list of str
        LANDMARK=LABEL, for labels that belong to no known marker set; may be given several times.
    up : str
        Vertical axis of the files (x, y, z, -x, -y, -z), if they do not state it.
    units : str
        Unit of the positions (mm, cm, m), if the files do not state it.
    contact : bool
        Also predict the ground force: from markers alone, and by the nine spheres of Moreira et al. (2011), fitted to the force.
    orthosis : str
        Also show the moments of an orthosis in the unchanged motion: flexible, medium, stiff, or a .toml
        file with the keywords of Builder.orthosis.  Muscles make the rest.
    muscles : bool
        Also activations and forces of 43 muscles of a generic leg, scaled to the subject, by static optimisation, and contact
        forces of the ankle; needs markers of pelvis and thigh.
    muscle_cost : str
        Cost of static optimisation: activation, or stress, force by maximum isometric force.  Default: activation.
    muscle_exponent : float
        Power of activations or stresses in the sum.  Default: 2.
    muscle_strength : float
        Factor on the maximum isometric forces of the generic leg.  Default: 1.
    passive_forces : bool
        Passive forces of the fibres act too.
    emg_maximum : list of str
        File of a trial of the subject that is not analysed and in which the largest electromyograms are sought too; may be given
        several times.
    emg_channel : list of str
        MUSCLE=LABEL, such as soleus_r=EMG1, for electromyograms whose labels are not known; may be given several times.
    moments : str
        Moments in the figures: internal, of muscles and ligaments; or external, of ground, gravity and inertia.
    plantarflexor_up : bool
        Draw moments of plantarflexion, extension and abduction upwards, as gait laboratories do; else moments are positive as the
        angles.
    figure_format : FigureFormat
        Formats of the figures and dots per inch.
    """
    files_of_figures, shown = FigureFiles(folder, figure_format), Moments(moments, plantarflexor_up)
    for name, value, allowed in (
        ("side", side, SIDES),
        ("toes", toes, TOES),
        ("axes", axes, AXES),
        ("sex", SEXES[0] if sex is None else sex, SEXES),
    ):
        if value not in allowed:
            raise ModelError(f"{name} = {value!r}: use {', '.join(allowed)}")
    refuse_without_muscles(
        muscles, muscle_cost=muscle_cost, muscle_exponent=muscle_exponent, muscle_strength=muscle_strength,
        passive_forces=passive_forces or None,
    )  # fmt: skip
    cost = cost_of(muscle_cost, muscle_exponent, passive_forces)
    anatomy = Anatomy(
        subtalar_inclination, subtalar_deviation, talocrural_inclination, talocrural_deviation, link_length, inertia,
        check_units, ankle_width, hip_centre,
    )  # fmt: skip
    filters = Filters(marker_cutoff, cop_cutoff, force_cutoff, order, longest_gap)
    if not filter:
        filters = Filters.off(longest_gap)
    report = Report(TITLE)
    moved, channels = None, channels_option(emg_channel)
    scaling = scaling_trials(emg_maximum, up=up, units=units) if files else []
    if files:
        static, trials = _recorded(files, forces, say, up=up, units=units)
        if functional is not None:
            say(f"reading {Path(functional).name}")
            moved = read_capture(Path(functional), up=up, units=units)
        landmarks = landmarks_option(marker, "marker")
    else:
        _refuse_without_files(
            functional=functional, forces=forces, marker=marker, up=up, units=units, emg_maximum=emg_maximum,
            emg_channel=emg_channel,
        )  # fmt: skip
        say("no files: analysing the synthetic trial, whose result is known and which is not filtered")
        static, trials = synthetic.static(), [("synthetic trial", synthetic.trial)]
        filters, landmarks = Filters.off(), dict(synthetic.MARKERS)
    options: dict[str, Any] = dict(
        side=None if side == "auto" else side, mass=mass, height=height, sex=sex, markers=landmarks or None, filters=filters,
        toes=toes, anatomy=anatomy, functional=moved, axes=axes, foot_flat=foot_flat,
        orthosis=None if orthosis is None else orthosis_option(orthosis),
    )  # fmt: skip
    found, recorded, left_out = _analysed(static, trials, options, report, say)
    begin(report, found, recorded, left_out, filters, *(["2011"] if contact else []))
    if not files:
        say("simulating the ankle and the toes, driven by the computed moments")
        report.tables.append(tables.recovery(found[0]))
    trial_soles = soles.analyse(found, say, recorded, filters) if contact else []
    trial_emgs = electromyograms.analyse(found, recorded, scaling, channels, left_out)
    walks: list[Any] = []
    leg = dict(
        muscles=cost, orthosis=options["orthosis"], strength=1.0 if muscle_strength is None else muscle_strength
    )  # fmt: skip
    if muscles:
        walks, without = pulling.analyse(found, folder, leg, say)
        left_out += without
        report.cite += [DELP] + ([CROWNINSHIELD] if muscle_cost == "stress" else [])
    by_axes = bands.analyse(found, static, recorded, options, leg if walks else None, left_out, say)
    say("figures and data")
    finish(report, found, left_out, files_of_figures, trial_soles, trial_emgs, walks, by_axes, shown)
    return report


def _refuse_without_files(**options: Any) -> None:
    """Refuse options that describe recorded files, which would be ignored."""
    for name, value in options.items():
        if value:
            raise ModelError(
                f"--{name.replace('_', '-')} belongs to recorded files; give STATIC TRIAL..., or leave it out"
            )


def _recorded(files: Sequence[Path], forces: Sequence[str] | None, say: Say, **reading: Any) -> tuple[Capture, Trials]:
    """The static trial, and readers of the walking trials by name."""
    if len(files) < 2:
        raise ModelError(f"talus gait {files[0]}: give the static trial and then one walking trial or more")
    if forces is not None and len(forces) != len(files) - 1:
        raise ModelError(
            f"--forces: {len(forces)} files for {len(files) - 1} trials; give one for each trial, in order"
        )
    if len(set(files[1:])) < len(files) - 1:
        raise ModelError("a walking trial is given twice; give each once")
    say(f"reading {files[0].name}")
    static = read_capture(files[0], **reading)
    beside: Sequence[str | None] = forces or [None] * (len(files) - 1)
    trials = [
        (file.name, partial(read_capture, file, forces=force, **reading))
        for file, force in zip(files[1:], beside, strict=True)
    ]
    return static, trials


def _analysed(
    static: Capture, trials: Trials, options: Mapping[str, Any], report: Report, say: Say
) -> tuple[list[Gait], list[Capture], list[str]]:
    """Analyses of the trials, the recording of each, and why a foot was left out.

    Of several trials, those that fail go into the report.
    """
    done = analyse_trials(static, trials, options, say)
    failures = [why for _, why in done.failures]
    if not done.found:
        raise ModelError("; ".join(failures))
    report.failures += failures
    return with_feet(done.found), done.recorded, sentences(done.left_out)
