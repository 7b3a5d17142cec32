"""The measured motion of two bones against each other: from poses in CSV and MAT files, or from clusters of markers."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy.io import loadmat
from scipy.spatial.transform import Rotation

from models.walking.capture.contents import AXES, UNITS
from models.walking.capture.read import marker_contents
from models.walking.capture.text_files import csv_unit, numbers_of, read_csv_text
from models.walking.capture.visible import only_visible
from models.walking.geometry import fixes_orientation
from models.walking.samples import all_finite
from models.walking.segment_motion import fit_rigid
from models.walking.subject import Frozen
from runtime import ModelError
from runtime.support import checked, checked_class, read_file
from runtime.support.arrays import Floats

MOST_FRAMES = 120  # of a movement, evenly spaced: neighbours add little
SKEWED = 0.02  # largest entry of a matrix times its transpose less 1; rounding to two digits makes 0.01
NONE = "none"  # in place of the proximal bone: the poses are those in it
PROXIMAL, DISTAL = "tibia", "calcaneus"
SHORTEST = 3  # letters of an abbreviation
MATRIX = [f"{i}{j}" for i in "123" for j in "123"]
SHIFT = ["14", "24", "34"]
ENTRY = re.compile(r"(.+?)[_. ]?(?:[rmt]_?)?([1-4])_?([1-4])")
PART = re.compile(r"(.+?)[_. ](q[wxyz]|[xyz])")
MARKER_FILES = (".trc", ".c3d")


@checked_class
@dataclass(frozen=True, eq=False)
class BoneMotion(Frozen):
    """A movement: the distal bone as seen from the proximal one.

    Attributes
    ----------
    name : str
    A : (n, 3, 3)
        Axes of the distal bone, as columns.
    r : (n, 3) [m]
        Its origin.
    missing : int
        Frames of the file in which a bone was not seen.
    """

    name: str
    A: Floats
    r: Floats
    missing: int = 0


Poses = tuple[Floats, Floats]  # orientations (n, 3, 3) and positions (n, 3), NaN where a bone is not seen


@checked
def read_bones(
    path: str | Path, *, proximal: str = PROXIMAL, distal: str = DISTAL, only: str = "", units: str | None = None
) -> tuple[list[BoneMotion], list[str]]:
    """Read the movements of two bones from a file, and notes on what was assumed.

    Parameters
    ----------
    path : path
        ``.csv`` or ``.mat`` with poses, in axes of the laboratory or of the image; or ``.trc``, ``.c3d`` with markers.
    proximal, distal : str
        Names of the bones, or abbreviations of three letters or more.  With commas: labels of three markers or more, such as
        "T1,T2,T3".  Proximal "none": the poses of the distal bone are those in the proximal one.
    only : str
        Text in the name of the movements that are read, such as the subject's field in a MAT file of many subjects.
    units : str, optional
        Of the positions: mm, cm, m; needed where the file does not state it.

    Raises
    ------
    ModelError
        With the file, the rule, the value and the remedy.
    """
    file = Path(path)
    notes: list[str] = []
    if units not in (None, *UNITS):
        raise ModelError(f"units = {units!r}; use 'mm', 'cm' or 'm', the unit of the positions")
    if file.suffix.lower() in MARKER_FILES or "," in distal:
        bones = {file.stem: _of_markers(file, (proximal, distal), units, notes)}
    elif file.suffix.lower() == ".csv":
        bones = _of_csv(file, units, notes)
    elif file.suffix.lower() == ".mat":
        bones = _of_mat(file, units)
    else:
        raise ModelError(
            f"{file.name}: no reader for files that end with '{file.suffix}'; poses are read from .csv and .mat, markers from "
            f"{', '.join(MARKER_FILES)}"
        )
    wanted = {name: poses for name, poses in bones.items() if only in name}
    if not wanted:
        raise ModelError(f"{file.name}: only = {only!r} is in the name of no movement; they are {', '.join(bones)}")
    whole = {name: poses for name, poses in wanted.items() if not _absent(poses, proximal, distal)}
    if whole:  # a MAT file has other poses too
        wanted = whole
    return [_relative(file.name, name, poses, proximal, distal, notes) for name, poses in wanted.items()], notes


def _absent(poses: Mapping[str, Poses], *bones: str) -> list[str]:
    """Those bones of which there is no pose."""
    return [bone for bone in bones if bone != NONE and not _named(poses, bone)]


def _of_markers(file: Path, clusters: tuple[str, str], units: str | None, notes: list[str]) -> dict[str, Poses]:
    """Poses of both clusters, in axes of their markers in the first frame in which all are seen."""
    contents = marker_contents(file, units)
    notes += contents.notes
    only_visible(contents.points, contents.labels, contents.metres, notes)
    markers = dict(zip(contents.labels, np.moveaxis(contents.points, 1, 0), strict=True))
    found = {}
    for cluster in clusters:
        labels = [label.strip() for label in cluster.split(",")]
        absent = [label for label in labels if label not in markers]
        if absent or len(labels) < 3:
            raise ModelError(
                f"{file.name}: a bone needs three markers or more, given as LABEL,LABEL,LABEL; got '{cluster}'"
                + (f", of which it has not {', '.join(absent)}; it has {', '.join(markers)}" if absent else "")
            )
        seen = np.stack([markers[label] for label in labels], axis=1)
        whole = np.flatnonzero(all_finite(seen).all(axis=1))
        if not len(whole) or not fixes_orientation(seen[whole[0]]):
            raise ModelError(
                f"{file.name}: the markers {cluster} are never seen all at once, or lie in a line; they fix no orientation: give "
                "three others"
            )
        pose = fit_rigid(seen[whole[0]] - seen[whole[0]].mean(axis=0), seen)
        found[cluster] = pose.A, pose.r
    return found


def _of_csv(file: Path, units: str | None, notes: list[str]) -> dict[str, dict[str, Poses]]:
    """Poses by movement and bone, of columns BONE_x and BONE_qw or BONE_r11 and so on, or BONE_11 to BONE_34."""
    comments, header, rows = read_csv_text(file)
    where = next((k for k, name in enumerate(header) if name.lower() in ("movement", "trial")), None)
    movements = [
        file.stem if where is None else fields[where].strip() for _, fields in rows if len(fields) > (where or 0)
    ]
    plain = [(line, [x for k, x in enumerate(fields) if k != where]) for line, fields in rows]
    names = [name for k, name in enumerate(header) if k != where]
    values = numbers_of(file, plain, len(names))
    factor, _ = csv_unit(file, comments, units, notes)
    columns: dict[str, dict[str, int]] = {}
    for k, name in enumerate(names):
        if match := PART.fullmatch(name) or ENTRY.fullmatch(name):
            columns.setdefault(match[1], {})["".join(match.groups()[1:]).lower()] = k
    bones = {}
    for bone, at in columns.items():
        place = next((keys for keys in (list(AXES), SHIFT) if set(keys) <= set(at)), None)
        turn = next((keys for keys in (MATRIX, ["qw", "qx", "qy", "qz"]) if set(keys) <= set(at)), None)
        if place and turn:
            numbers = values[:, [at[key] for key in turn]]
            A = numbers.reshape(-1, 3, 3) if len(turn) == 9 else _of_quaternions(file, bone, numbers)
            bones[bone] = A, factor * values[:, [at[key] for key in place]]
    if not bones:
        raise ModelError(
            f"{file.name}: no poses: a bone needs the columns BONE_x, BONE_y, BONE_z and BONE_qw, BONE_qx, BONE_qy, BONE_qz, or "
            f"BONE_r11 to BONE_r33 in place of these four; it has {', '.join(header[:8])}, ..."
        )
    which = np.array(movements)
    return {
        name: {bone: (A[which == name], r[which == name]) for bone, (A, r) in bones.items()}
        for name in dict.fromkeys(movements)
    }


def _of_quaternions(file: Path, bone: str, q: Floats) -> Floats:
    """Orientations of quaternions (n, 4), scalar first."""
    length = np.linalg.norm(q, axis=1)
    off = np.abs(np.where(np.isfinite(length), length, 1.0) - 1.0)
    if off.max() > SKEWED:
        k = int(off.argmax())
        raise ModelError(
            f"{file.name}: the quaternion of {bone} in frame {k + 1} has the length {length[k]:.3g}, it must be 1; give unit "
            "quaternions, with the scalar in the column qw"
        )
    seen = np.isfinite(length)
    A = np.full((len(q), 3, 3), np.nan)
    A[seen] = Rotation.from_quat(q[seen], scalar_first=True).as_matrix()
    return A


def _of_mat(file: Path, units: str | None) -> dict[str, dict[str, Poses]]:
    """Poses by movement and bone, of all arrays (4, 4, n) or (n, 4, 4), by the names of the fields that lead to them."""
    data = read_file(file, remedy="give a file of poses")
    if units is None:
        raise ModelError(
            f"{file.name}: a MAT file does not state the unit of the positions; give units='mm', 'cm' or 'm'"
        )
    factor = UNITS_IN_M[units]
    try:
        content = loadmat(io.BytesIO(data), simplify_cells=True)
    except Exception as error:  # of many kinds, for damaged files and those of version 7.3
        raise ModelError(f"{file.name}: {str(error)[:120]}; save it in MATLAB with -v7") from None
    found: dict[str, dict[str, Poses]] = {}
    for path, T in _arrays("", {key: value for key, value in content.items() if not key.startswith("__")}):
        movement, _, bone = path.rpartition(".")
        found.setdefault(movement or file.stem, {})[bone] = T[:, :3, :3], factor * T[:, :3, 3]
    if not found:
        raise ModelError(
            f"{file.name}: no array of 4 x 4 x frames, as poses are, in any field; it has {', '.join(content)}"
        )
    return found


UNITS_IN_M = {"mm": 1e-3, "cm": 1e-2, "m": 1.0}


def _arrays(path: str, value: Any) -> Iterator[tuple[str, Floats]]:
    """Poses (n, 4, 4) in the fields of structures, by the names that lead to them; elements of cells are counted from 1."""
    if isinstance(value, Mapping):
        for key, field in value.items():
            yield from _arrays(f"{path}.{key}" if path else key, field)
    elif isinstance(value, list) or (isinstance(value, np.ndarray) and value.dtype.kind == "O"):
        for k, element in enumerate(value):
            yield from _arrays(f"{path}{k + 1}", element)
    elif isinstance(value, np.ndarray) and value.ndim == 3 and value.dtype.kind == "f":
        for T in (np.moveaxis(value, 2, 0), value):
            if T.shape[1:] == (4, 4) and np.nanmax(np.abs(T[:, 3] - [0.0, 0.0, 0.0, 1.0]), initial=0.0) < SKEWED:
                yield path, T
                return


def _named(poses: Mapping[str, Poses], wanted: str) -> list[str]:
    """The bone of this name, or those with a word that abbreviates it, or that it abbreviates."""
    if wanted in poses:
        return [wanted]
    found = []
    for bone in poses:
        pairs = [sorted((word, wanted.lower()), key=len) for word in re.findall(r"[a-z]+", bone.lower())]
        if any(len(short) >= SHORTEST and long.startswith(short) for short, long in pairs):
            found.append(bone)
    return found


def _relative(
    file: str, name: str, poses: Mapping[str, Poses], proximal: str, distal: str, notes: list[str]
) -> BoneMotion:
    """The distal bone as seen from the proximal one, in frames in which both are seen."""
    if absent := _absent(poses, proximal, distal):
        raise ModelError(
            f"{file}: no poses of {' and '.join(absent)}; it has {', '.join(poses)}: give proximal= and distal=, or proximal="
            f"'{NONE}' for poses of the distal bone in the proximal one"
        )
    own = {bone: _named(poses, bone) for bone in (proximal, distal) if bone != NONE}
    for bone, found in own.items():
        if len(found) > 1:
            raise ModelError(f"{file}: '{bone}' may be {' or '.join(found)}; give the name in the file")
    file = f"{file}: {name}"
    A, r = poses[own[distal][0]]
    if proximal != NONE:
        A_0, r_0 = poses[own[proximal][0]]
        back = np.swapaxes(_rotations(file, proximal, A_0, notes), 1, 2)
        A, r = back @ _rotations(file, distal, A, notes), (back @ (r - r_0)[..., None])[..., 0]
    else:
        A = _rotations(file, distal, A, notes)
    seen = np.flatnonzero(np.isfinite(A).all(axis=(1, 2)) & all_finite(r))
    kept = seen[np.linspace(0, len(seen) - 1, min(len(seen), MOST_FRAMES)).round().astype(int)] if len(seen) else seen
    missing = len(A) - len(seen)
    if missing:
        notes.append(f"{file}: {missing} of {len(A)} frames are left out, in which a bone is not seen")
    if len(kept) < len(seen):
        notes.append(f"{file}: {len(kept)} evenly spaced frames of {len(seen)} are used")
    return BoneMotion(name, A[kept], r[kept], missing)


def _rotations(file: str, bone: str, A: Floats, notes: list[str]) -> Floats:
    """The nearest rotations of matrices (n, 3, 3), NaN where one is not finite or zero, as of a bone that is not seen.

    Raises
    ------
    ModelError
        For a matrix that is no rotation.
    """
    seen = np.isfinite(A).all(axis=(1, 2)) & (np.abs(A) > 0.0).any(axis=(1, 2))
    found = np.full(A.shape, np.nan)
    off = np.abs(np.swapaxes(A[seen], 1, 2) @ A[seen] - np.eye(3)).max(axis=(1, 2), initial=0.0)
    if off.max(initial=0.0) > SKEWED or (np.linalg.det(A[seen]) < 0.0).any():
        k = int(off.argmax()) if off.max() > SKEWED else int(np.linalg.det(A[seen]).argmin())
        left = "" if off.max() > SKEWED else ", and its axes are left-handed"
        raise ModelError(
            f"{file}: the matrix of {bone} in frame {int(np.flatnonzero(seen)[k]) + 1} is no rotation: its columns are off unit "
            f"vectors at right angles by {off[k]:.2g}, limit {SKEWED:g}{left}; give rotation matrices, axes of the bone as "
            "columns"
        )
    if off.max(initial=0.0) > 1e-3:
        notes.append(
            f"{file}: matrices of {bone} are off rotations by up to {off.max():.1g}; the nearest rotations are used"
        )
    U, _, Vt = np.linalg.svd(A[seen])
    found[seen] = U @ Vt
    return found
