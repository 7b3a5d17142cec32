"""The study of a swapped ankle: a model of OpenSim with modified universal joints, and a trial with each kind of ankle.

Rodrigues da Silva et al. (2024a).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any

import models
from models.files.added_axes import notes_of
from models.papers import cited
from models.studies import emg_agreement
from models.studies import muscle_report as pulling
from models.studies.options import (
    channels_option,
    cost_of,
    labels_option,
    landmarks_option,
    orthosis_option,
    refuse_unused,
    refuse_without_muscles,
)
from models.studies.swap import files as written
from models.studies.swap import tables
from models.studies.swap.figures import figures
from models.studies.swap.given import Trial, model_of_file, scaled_leg
from models.walking.anatomy import Anatomy
from models.walking.swapped_ankle import FILE, MODIFIED, ankles_of, compare_ankles, with_axes
from runtime import ModelError
from runtime.figures import PNG, FigureFormat
from runtime.report import Report, write_report
from runtime.report.figure_files import FigureFiles

TITLE = "The ankle of a model swapped for a modified universal joint: Rodrigues da Silva et al. (2024a)"
SAME_AXES = (
    "  The links are as long as the hinges of the file are apart, so that both axes stay and the talus's mass alone differs: "
    "--talus-length shortens the links."
)
JOINTS = ("modified_universal", "universal")
TALUS = ("foot", "shank", "drop")
HICKS = (
    "J. L. Hicks, T. K. Uchida, A. Seth, A. Rajagopal, S. L. Delp: Is my model good enough? Best practices for verification and "
    "validation of musculoskeletal models and simulations of movement, Journal of Biomechanical Engineering 137, 020905 (2015); "
    "thresholds of residuals."
)
LU = (
    "T.-W. Lu, J. J. O'Connor: Bone position estimation from skin marker co-ordinates using global optimisation with joint "
    "constraints, Journal of Biomechanics 32, 129-134 (1999); inverse kinematics."
)


# Above 60 lines: the options of the command and their help.
def swap(
    folder: Path,
    say: Callable[[str], None],
    *,
    model: Annotated[Path | None, "argument", ".osim"] = None,
    markers: str | None = None,
    static: str | None = None,
    side: str = "right",
    mass: float | None = None,
    height: float | None = None,
    sex: str | None = None,
    landmark: Annotated[list[str] | None, "as landmarks, markers"] = None,
    ankle_width: float | None = None,
    foot_flat: bool = True,
    loads: str | None = None,
    tasks: str | None = None,
    label: Annotated[list[str] | None, "as labels"] = None,
    ankle: Annotated[list[str] | None, "as ankles"] = None,
    joint: Annotated[str, "as with_"] = "modified_universal",
    talus_length: Annotated[float | None, "or 0", "as link_length"] = None,
    talus: str = "foot",
    subtalar_inclination: Annotated[float | None, "signed", "as subtalar_inclination_deg"] = None,
    subtalar_deviation: Annotated[float | None, "signed", "as subtalar_deviation_deg"] = None,
    talocrural_inclination: Annotated[float | None, "signed", "as talocrural_inclination_deg"] = None,
    talocrural_deviation: Annotated[float | None, "signed", "as talocrural_deviation_deg"] = None,
    subtalar_axis: str | None = None,
    subtalar_point: str | None = None,
    unlock: bool = False,
    ignore: str = "",
    feet: str | None = None,
    start: Annotated[float | None, "signed"] = None,
    end: Annotated[float | None, "signed"] = None,
    cutoff: float = 6.0,
    orthosis: str | None = None,
    muscles: bool = False,
    muscle_cost: Annotated[str | None, "as cost"] = None,
    muscle_exponent: Annotated[float | None, "as exponent"] = None,
    passive_forces: bool = False,
    emg_maximum: list[str] | None = None,
    emg_channel: Annotated[list[str] | None, "as channels"] = None,
    up: str | None = None,
    units: str | None = None,
    figure_format: FigureFormat = PNG,
) -> Report:
    """Swap the ankles of an OpenSim model for modified universal joints.  With a trial: moments and residuals of each sort.

    Parameters
    ----------
    folder : Path
        Where the model, tables, figures and data are written.
    say : callable(str)
        Receives a line for each stage of the work.
    model : Path
        A model of OpenSim; with a trial, scaled to the subject and with markers.  Without it, --static.
    markers : str
        File of a trial's markers (.trc, .c3d, .csv).
    static : str
        In place of a model: a trial of the subject standing still, with the same labels, to which a generic lower leg is scaled.
    side : str
        Leg that is scaled: right or left.
    mass : float [kg]
        Of the subject, if the static trial does not contain it.
    height : float [m]
        Of the subject; needed only without markers on the knee.
    sex : str
        Of the subject: female or male, for the inertia of the segments; without it the mean of both.
    landmark : list of str
        LANDMARK=LABEL, such as heel=RHEE, for labels of the static trial that belong to no known marker set; may be given several
        times.
    ankle_width : float [m]
        Between the malleoli, where the static trial has no marker on the medial one.
    foot_flat : bool
        The sole is flat on the floor in the static trial.
    loads : str
        External loads (.xml), or a file of ground forces (.mot, .sto, .csv, .c3d); default: the force plates of the trial, or
        of a file beside it.
    tasks : str
        Weights of markers and coordinates: .xml file with an IKTaskSet of OpenSim; default: 1 for every marker.
    label : list of str
        MARKER=LABEL: a marker of the model and its label in the trial, where they differ; may be given several times.
    ankle : list of str
        ANKLE,SUBTALAR: both hinges, such as ankle_r,subtalar_r; may be given several times.  Default: both sides by these names.
        ANKLE alone, with --subtalar-axis: an ankle that carries the foot.
    joint : str
        Joint of the model that is written: modified_universal or universal.
    talus_length : float [m]
        Length of the massless link; default: the distance between the hinges of the file, or, with --static, 0.0417 in proportion
        to the length of the foot.  0: a universal joint.
    talus : str
        Body that takes the mass of the talus: foot, shank, or drop.
    subtalar_inclination : float [deg]
        Of the subtalar axis above the long axis of the foot, in the sagittal plane; give the deviation too.
    subtalar_deviation : float [deg]
        Of the subtalar axis medial of the long axis of the foot, in the transverse plane.
    talocrural_inclination : float [deg]
        Of the talocrural axis above the medial direction, in the frontal plane; give the deviation too.
    talocrural_deviation : float [deg]
        Of the talocrural axis anterior of the medial direction, in the transverse plane.
    subtalar_axis : str
        Axis of a subtalar joint that the file welds or lacks: isman_inman, the mean of Isman and Inman (1969); opensim, the axis
        of OpenSim's gait models; INCLINATION,DEVIATION in degrees; or X,Y,Z, a direction in axes of a right foot.
    subtalar_point : str
        X,Y,Z in metres: a point of that axis, from the origin of a right foot; default: this origin.
    unlock : bool
        Hinges that the file locks move.
    ignore : str
        Kinds of parts of the model that are left out, separated by commas.
    feet : str
        Bodies on which force plates act, separated by commas; default: calcn_r,calcn_l, or the bodies of the subtalar joints.
    start : float [s]
        Beginning of the part of the trial that is analysed.
    end : float [s]
        End of that part.
    cutoff : float [Hz]
        Of one pass of the filter of the coordinates, which is applied forwards and backwards.
    orthosis : str
        Also show the moments of an orthosis on each ankle in the unchanged motion: flexible, medium,
        stiff, or a .toml file with the keywords of Builder.orthosis.
    muscles : bool
        Also activations and forces of the model's muscles by static optimisation, and contact forces of both hinges.
    muscle_cost : str
        Cost of static optimisation: activation, or stress, force by maximum isometric force.  Default: activation.
    muscle_exponent : float
        Power of activations or stresses in the sum.  Default: 2.
    passive_forces : bool
        Passive forces of the fibres act too.
    emg_maximum : list of str
        File of another trial of the subject in which the largest electromyograms are sought too, where the trial has any; may
        be given several times.
    emg_channel : list of str
        MUSCLE=LABEL, such as soleus_r=EMG1, for electromyograms whose labels are not known; may be given several times.
    up : str
        Vertical axis of the files (x, y, z, -x, -y, -z), if they do not state it.
    units : str
        Unit of the positions (mm, cm, m), if the files do not state it.
    figure_format : FigureFormat
        Formats of the figures and dots per inch.
    """
    drawn = FigureFiles(folder, figure_format)
    for name, value, allowed in (("with_", joint, JOINTS), ("talus", talus, TALUS)):
        if value not in allowed:
            raise ModelError(f"{name} = {value!r}: use {', '.join(allowed)}")
    if (model is None) == (static is None):
        raise ModelError("talus swap takes MODEL.osim, or --static FILE for a generic lower leg; give one of them")
    refuse_unused(
        markers is None, "--{} belongs to a trial; give --markers FILE, or leave it out", loads=loads, tasks=tasks, label=label,
        feet=feet, start=start, end=end, orthosis=orthosis, muscles=muscles or None,
        **({} if static else dict(up=up, units=units)),
    )  # fmt: skip
    refuse_without_muscles(
        muscles, muscle_cost=muscle_cost, muscle_exponent=muscle_exponent, passive_forces=passive_forces or None,
        emg_maximum=emg_maximum, emg_channel=emg_channel,
    )  # fmt: skip
    refuse_unused(
        static is None, "--{} belongs to a generic leg; give --static FILE in place of a model, or leave it out",
        side=None if side == "right" else side, mass=mass, height=height, sex=sex, landmark=landmark, ankle_width=ankle_width,
    )  # fmt: skip
    refuse_unused(
        model is None, "--{} belongs to a model; the generic leg has both hinges: leave it out", ankle=ankle,
        ignore=ignore or None, feet=feet, subtalar_axis=subtalar_axis, subtalar_point=subtalar_point, unlock=unlock or None,
    )  # fmt: skip
    refuse_unused(
        model is None, "--{} belongs to a model; the generic leg of --static has none: use talus gait --muscles, or leave it out",
        muscles=muscles or None,
    )  # fmt: skip
    angles = dict(
        subtalar_inclination_deg=subtalar_inclination, subtalar_deviation_deg=subtalar_deviation,
        talocrural_inclination_deg=talocrural_inclination, talocrural_deviation_deg=talocrural_deviation,
    )  # fmt: skip
    worn = None if orthosis is None else orthosis_option(orthosis)
    cost = cost_of(muscle_cost, muscle_exponent, passive_forces)
    trial = Trial(*(None if file is None else Path(file) for file in (markers, loads)), up, units)
    source: Any
    if model is not None:
        say(f"reading {model.name}")
        source = model_of_file(model, ignore, trial, _pairs(ankle, subtalar_axis), angles, talus_length)
    elif static is not None:
        say(f"scaling a lower leg to {Path(static).name}")
        anatomy = Anatomy(**angles, link_length=talus_length or None, ankle_width=ankle_width)
        names = landmarks_option(landmark, "landmark")
        of = dict(mass=mass, height=height, sex=sex, foot_flat=foot_flat)
        length = 0.0 if talus_length == 0.0 else None  # any other one is in the leg
        source = scaled_leg(Path(static), folder, side, trial, anatomy, names, length, **of)
    added = _numbers(subtalar_axis), _numbers(subtalar_point)
    noted = () if subtalar_axis is None else ("notes",)  # shown at once, as the axis is an assumption
    with source as given:
        reading, options = given.reading, dict(talus=talus, unlock=unlock, axes=given.axes)
        named = given.ankles or ankles_of(reading.source, added=subtalar_axis is not None)
        swapped, pairs = with_axes(reading, named, *added, given.axes)
        for one, two in pairs:
            swapped = models.swap(swapped, one, two, with_=joint, talus_length=given.length, **options)
        report = Report(
            TITLE, cite=[*cited("2024a"), *([LU] if markers else []), *([HICKS] if markers and model else [])]
        )
        report.head = {"model": reading.source.name, "file": reading.file.name}
        if markers is None:
            say("writing the model")
            report.answer = tables.said(swapped, pairs)
            report.first = ("swapped joints", *(("notes",) if given.notes else noted))
            report.tables.append(tables.swapped_joints({joint.replace("_", " "): swapped}, pairs))
            report.tables += [tables.notes([*given.notes, *notes_of(swapped)]), tables.left_out(swapped)]
            report.files += written.model_files(swapped, folder, reading.file.stem, report.not_written)
            write_report(report, folder, figures=drawn)
            return report
        sorts = given.sorts(joint)
        found = compare_ankles(
            reading, given.markers, given.loads, ankles=named, sorts=sorts, talus_length=given.length, feet=_words(feet),
            cutoff=cutoff, say=say, start=start, end=end, up=up, units=units, tasks=tasks, mass=given.mass,
            labels=labels_option(label, "labels", "MARKER=LABEL, such as R.ASIS=RASI"), subtalar_axis=added[0],
            subtalar_point=added[1], orthosis=worn, muscles=cost if muscles else False, **options,
        )  # fmt: skip
        others, more = emg_agreement.scaling_trials(emg_maximum, up=up, units=units), list(found.notes)
        channels = channels_option(emg_channel)
        electromyograms = emg_agreement.recorded(found.recording, others, channels, more) if muscles else None
        if others and electromyograms is None:
            more.append(f"--emg-maximum is not used: {found.name} has no electromyograms")
        report.head = {**report.head, "trial": found.name, "mass": f"{found.mass:.1f} kg"}
        report.answer = tables.answer(found, whole=not given.leg) + pulling.answer([found])
        report.first = ("ankles", *(("contact forces",) if muscles else ()), *noted)
        report.cite += [pulling.CROWNINSHIELD] if muscle_cost == "stress" else []
        report.cite += emg_agreement.CITED if electromyograms is not None else ()
        if {FILE, MODIFIED} <= set(sorts) and talus_length is None and given.axes is None:
            report.answer += SAME_AXES
        report.tables += [
            tables.ankles(found),
            *pulling.tables(found, pulling.agreement({"": (found, electromyograms)})),
            *([] if given.leg else [tables.residuals(found)]),
            tables.markers(found),
        ]
        if worn is not None:
            report.tables.insert(1, tables.orthosis(found))
            report.first = (*report.first, "orthosis")
        report.tables.append(tables.swapped_joints({sort: one.reading for sort, one in found.trials.items()}, pairs))
        report.tables.append(tables.coordinates(found))
        report.tables += [tables.notes([*given.notes, *more]), tables.left_out(swapped)]
        say("figures, model and data")
        drawn.add(figures(found, whole=not given.leg) | pulling.figures(found))
        report.files += written.model_files(swapped, folder, reading.file.stem, report.not_written)
        report.files += written.trial_files(found, folder)
        write_report(report, folder, figures=drawn)
    return report


def _words(text: str | None) -> Sequence[str] | None:
    return None if text is None else [word.strip() for word in text.split(",") if word.strip()]


def _numbers(text: str | None) -> Any:
    """Numbers with commas between them; another text as it is."""
    try:
        return None if text is None else [float(word) for word in text.split(",")]
    except ValueError:
        return text


def _pairs(given: Sequence[str] | None, axis: str | None) -> list[tuple[str, str | None]]:
    """Both hinges of each ankle; None for a subtalar joint that the model lacks, where an axis is given."""
    found: list[tuple[str, str | None]] = []
    for text in given or ():
        words = [word.strip() for word in text.split(",")]
        if not all(words) or len(words) != 2 and (len(words) > 2 or axis is None):
            raise ModelError(
                f"ankles = {text!r}: give ANKLE,SUBTALAR, such as ankle_r,subtalar_r, or ANKLE and --subtalar-axis for an ankle "
                "that carries the foot"
            )
        found.append((words[0], words[1] if len(words) > 1 else None))
    return found
