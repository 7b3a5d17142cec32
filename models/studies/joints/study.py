"""Which joint the measured motion of two bones fits."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated

from models.papers import cited
from models.studies.joints import tables
from models.studies.joints.figures import figures
from models.walking.bone_motion import DISTAL, PROXIMAL, read_bones
from models.walking.joint_fit import JOINTS, NOISE_DEG, NOISE_MM, fit_joints
from runtime import ModelError
from runtime.figures import PNG, FigureFormat
from runtime.report import Report, Table, write_report
from runtime.report.figure_files import FigureFiles

GOLUB = (
    "G. H. Golub, V. Pereyra: The differentiation of pseudo-inverses and nonlinear least squares problems whose variables "
    "separate, SIAM Journal on Numerical Analysis 10, 413-432 (1973); the fit."
)


def joints(
    folder: Path,
    say: Callable[[str], None],
    *,
    motions: tuple[Path, ...],
    proximal: str = PROXIMAL,
    distal: str = DISTAL,
    only: str = "",
    joint: Annotated[list[str] | None, "as joints"] = None,
    noise_mm: float = NOISE_MM,
    noise_deg: float = NOISE_DEG,
    units: str | None = None,
    figure_format: FigureFormat = PNG,
) -> Report:
    """Fit joints to the measured motion of two bones: hinge, classical, modified, spherical.  Says which one predicts it best.

    Parameters
    ----------
    folder : Path
        Where tables, figures and data are written.
    say : callable(str)
        Receives a line for each stage of the work.
    motions : tuple of Path
        Movements of the same two bones: poses by frame in .csv or .mat, or clusters of markers in .trc or .c3d.
    proximal : str
        Name of the proximal bone; none: poses of the distal bone in it; LABEL,LABEL,LABEL: its markers.
    distal : str
        Name of the distal bone, or LABEL,LABEL,LABEL: its markers.
    only : str
        Text in the name of the movements that are read, such as a subject's field in a MAT file of many subjects.
    joint : list of str
        Joint that is fitted: hinge, classical, modified, spherical or free; may be given several times.  Default: all.
    noise_mm : float [mm]
        Standard deviation of the position of each bone at the joint, in each direction.
    noise_deg : float [deg]
        Standard deviation of the orientation of each bone, about each direction.
    units : str
        Unit of the positions (mm, cm, m), if the files do not state it.
    figure_format : FigureFormat
        Formats of the figures and dots per inch.
    """
    drawn = FigureFiles(folder, figure_format)
    if not motions:
        raise ModelError("talus joints takes files with the motion of two bones; give one or more, such as walk.csv")
    read, notes = [], []
    for file in motions:
        say(f"reading {file.name}")
        own, said = read_bones(file, proximal=proximal, distal=distal, only=only, units=units)
        read += own
        notes += said
    say(f"fitting joints to {len(read)} movements with {sum(len(one.A) for one in read)} frames")
    found = fit_joints(read, joints=tuple(joint or JOINTS), noise_mm=noise_mm, noise_deg=noise_deg)
    report = Report("Which joint fits the motion of two bones", cite=[*cited("2024a"), GOLUB])
    report.answer = "  ".join(found.sentences()[:3])
    report.head = {
        "files": ", ".join(file.name for file in motions), "bones": f"{proximal}, {distal}",
        "frames": f"{found.frames}, and {found.missing} in which a bone is not seen",
        "noise of each bone": f"{noise_mm:g} mm, {noise_deg:g} deg",
    }  # fmt: skip
    notes += found.sentences()[3:]
    report.tables = [
        tables.joints(found), tables.left_out(found), tables.lines(found),
        Table("notes", ["assumption that was not read from a file"], [[note] for note in notes]),
    ]  # fmt: skip
    drawn.add(figures(found, read))
    write_report(report, folder, figures=drawn)
    return report
