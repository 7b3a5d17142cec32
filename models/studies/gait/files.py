"""Files of the study of a walk: NetCDF and CSV over the gait cycle, and OpenSim's formats over time."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from models.studies.gait import bands, contact_files, electromyograms
from models.studies.gait.contact import TrialSoles
from models.studies.gait.curves import joints, notes, numbered, stems, upper
from models.walking.axes_bands import AxesBands
from models.walking.cycle_curves import ANKLE, BOUND, ankle_curve, curve, vertical
from models.walking.gait_result import PERCENT, Gait
from runtime.results import write_columns, write_dataset, write_storage
from runtime.support.arrays import Floats

# From our axes (x forwards, y to the left, z up) to OpenSim's axes of the laboratory (x forwards, y up, z to the right).
OPENSIM = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, -1.0, 0.0]])


def write(
    found: Sequence[Gait],
    trial_soles: Sequence[TrialSoles],
    trial_emgs: Sequence[electromyograms.TrialEmg],
    folder: Path,
    by_axes: Sequence[AxesBands] = (),
) -> list[Path]:
    """Write all files of the trials, and of their soles, electromyograms and bands, if any; returns their paths."""
    files = [folder / "gait.nc", folder / "curves.csv"]
    data = dataset(found)
    if trial_soles:
        data = contact_files.add_to(data, trial_soles)
        files.append(contact_files.write_csv(trial_soles, folder / "contact.csv"))
    if trial_emgs:
        data = electromyograms.add_to(data, found, trial_emgs)
        files.append(electromyograms.write_csv(trial_emgs, folder / "electromyogram_curves.csv"))
    if by_axes:
        data = bands.add_to(data, by_axes)
        files.append(bands.write_csv(by_axes, folder / "axes_bands.csv"))
    write_dataset(data, files[0])
    _curves_csv(found, files[1])
    for one, stem in zip(found, stems(found), strict=True):
        files += [
            _motion(one, folder / f"{stem}_angles.mot"),
            _efforts(one, folder / f"{stem}_moments.sto"),
            _forces(one, folder / f"{stem}_ground.mot"),
            one.motion.to_netcdf(folder / f"{stem}_motion.nc"),
        ]
    return files


def dataset(found: Sequence[Gait]) -> Any:
    """All curves over the gait cycle as an xarray Dataset: dimensions trial, joint, rotation, percent, axis."""
    import xarray

    names, above = list(joints(found)), list(upper(found))
    data: dict[str, Any] = {}
    for name, unit, meaning in (
        ("angles", "rad", "joint angle; dorsiflexion, inversion, extension positive"),
        ("moments", "N m", "moment of muscles and ligaments on the distal body about the axis of the joint"),
        ("powers", "W", "moment times rate of the angle"),
        (
            "knee_and_hip_angles",
            "rad",
            "flexion, adduction, internal rotation positive; ISB, Grood and Suntay (1983)",
        ),
        (
            "knee_and_hip_moments",
            "N m",
            "moment of muscles and ligaments on the distal body about the axis of the angle",
        ),
        ("knee_and_hip_powers", "W", "moment times rate of the angle"),
    ):
        dimension, own = ("upper_angle", above) if name.startswith("knee") else ("joint", names)
        of = name.removeprefix("knee_and_hip_")
        values = np.array([[one.over_cycle(getattr(one, of)[joint]) for joint in own] for one in found])
        if own:
            data[name] = (("trial", dimension, "percent"), values, {"units": unit, "long_name": meaning})
        if caveat := _caveat(found, name):
            data[name][2]["comment"] = caveat
    values = np.array([[one.over_cycle(getattr(one.ankle_angles(), name)) for name in ANKLE] for one in found])
    meaning = "of the ankle joint complex, ISB (Wu et al. 2002); dorsiflexion, inversion, internal rotation positive"
    data["ankle_angles"] = (("trial", "rotation", "percent"), values, {"units": "rad", "long_name": meaning})
    forces = [one.ground_over_cycle() for one in found]
    axes = ("trial", "percent", "axis")
    data["ground_force"] = (axes, np.array([f[0] for f in forces]), {"units": "N", "long_name": "on the foot"})
    data["centre_of_pressure"] = (axes, np.array([f[1] for f in forces]), {"units": "m", "long_name": "NaN in swing"})
    data["free_moment"] = (("trial", "percent"), np.array([f[2] for f in forces]), {"units": "N m"})
    data["toe_off"] = (("trial",), np.array([one.toe_off for one in found]), {"units": "percent of the gait cycle"})
    data["mass"] = (("trial",), np.array([one.subject.mass for one in found]), {"units": "kg"})
    person = found[0].subject
    sides = {one.side for one in found}
    attributes = {
        "side": " and ".join(sorted(sides, reverse=True)),
        "axes": "x anterior, y medial, z up" + (", left foot mirrored" if "left" in sides else ""),
        "subject": person.name,
        "sources": json.dumps(dict(person.sources)),
        "notes": "\n".join(notes(found)),
    }
    coordinates = {
        "trial": [one.name for one in found],
        "side": ("trial", [one.side for one in found]),
        "joint": names,
        "rotation": list(ANKLE),
        "percent": ("percent", PERCENT, {"units": "percent of the gait cycle"}),
        "axis": ["x", "y", "z"],
    }
    if above:
        coordinates["upper_angle"] = above
    return xarray.Dataset(data, coords=coordinates, attrs=attributes)


def _caveat(found: Sequence[Gait], quantity: str) -> str:
    """A warning on the metatarsophalangeal joint, for the readers of a quantity."""
    if "metatarsophalangeal" not in joints(found) or quantity.startswith("knee"):
        return ""
    if quantity != "angles":
        return f"metatarsophalangeal: {BOUND}"
    caveats = dict.fromkeys(f"{one.name}: {one.toe_caveat}" for one in found if one.toe_caveat)
    return f"metatarsophalangeal: {'; '.join(caveats)}" if caveats else ""


def _curves_csv(found: Sequence[Gait], file: Path) -> None:
    """Percent, mean and SD over the trials of each foot of every quantity, then every trial."""
    columns: dict[str, Floats] = {"percent": PERCENT}
    names = numbered([one.name for one in found])
    curves: Mapping[str, Callable[[Gait], Floats]] = {
        **{
            f"{joint}_{quantity} [{unit}]": partial(curve, quantity=quantity, joint=joint)
            for quantity, unit in (("angle", "deg"), ("moment", "N m/kg"), ("power", "W/kg"))
            for joint in (*joints(found), *upper(found))
        },
        **{f"ankle_{name} [deg]": partial(ankle_curve, name=name) for name in ANKLE},
        "vertical_force [BW]": vertical,
    }
    feet = list(dict.fromkeys(one.side for one in found))
    for name, of in curves.items():
        values = np.array([of(one) for one in found])
        for side in feet:
            own = values[[one.side == side for one in found]]
            foot = f" {side}" if len(feet) > 1 else ""
            columns[f"{name}{foot} mean"] = own.mean(axis=0)
            columns[f"{name}{foot} SD"] = own.std(axis=0, ddof=1) if len(own) > 1 else np.full(len(PERCENT), np.nan)
        columns |= {f"{name} {stem}": value for stem, value in zip(names, values, strict=True)}
    write_columns(file, list(columns), np.column_stack(list(columns.values())), digits=10)


def _motion(one: Gait, file: Path) -> Path:
    """Joint angles over time in degrees, as OpenSim reads coordinates."""
    shown = [joint for joint, angle in one.angles.items() if np.isfinite(angle).all()]
    values = np.column_stack([one.t, *(np.rad2deg(one.angles[joint]) for joint in shown)])
    return write_storage(file, one.name, ["time", *(f"{joint}_angle" for joint in shown)], values, in_degrees=True)


def _efforts(one: Gait, file: Path) -> Path:
    """Joint moments over time, as OpenSim's inverse dynamics writes them."""
    shown = {joint: moment for joint, moment in one.moments.items() if np.isfinite(moment).all()}
    values = np.column_stack([one.t, *shown.values()])
    return write_storage(file, one.name, ["time", *(f"{joint}_angle_moment" for joint in shown)], values)


def _forces(one: Gait, file: Path) -> Path:
    """Ground reaction force over time in OpenSim's names and axes, walking along x."""
    g = one.ground
    medial = 1.0 if one.side == "right" else -1.0  # reverts the mirroring of a left foot
    turn = OPENSIM @ np.diag([1.0, medial, 1.0])
    force, point = g.force @ turn.T, np.nan_to_num(g.cop @ turn.T)
    moment = np.zeros_like(force)
    moment[:, 1] = medial * g.free_moment
    letter = one.side[0]
    names = [f"ground_force_{letter}_{kind}{axis}" for kind in "vp" for axis in "xyz"]
    names += [f"ground_torque_{letter}_{axis}" for axis in "xyz"]
    return write_storage(file, one.name, ["time", *names], np.column_stack([g.t, force, point, moment]))
