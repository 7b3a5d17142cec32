"""Motions read from the NetCDF files that runs are written to, as far as views need them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from runtime.results.drawn_motion import ACTIVATIONS, SPAN, ContactForce, DrawnMotion, Energies, LimitAngles, Wrench
from runtime.results.outline import OUTLINE, Outline, outline_from, outline_of
from runtime.results.seen import Seen
from runtime.support.arguments import checked
from runtime.support.arrays import Floats
from runtime.support.errors import ModelError
from runtime.support.files import opened
from runtime.support.html import html_table
from runtime.system.system import System

if TYPE_CHECKING:
    import xarray

NEEDED = ("time", "body", "r", "p", "kinetic_energy", "potential_energy", "energy")


class MotionFile(Seen):
    """A motion read from a file: ``file``, ``motion``; ``view()``, ``animation(file)`` and ``scene()`` as those of a run."""

    def __init__(self, file: Path, motion: DrawnMotion) -> None:
        self.file, self.motion = file, motion

    def drawn_motion(self) -> DrawnMotion:
        """The arrays that are drawn."""
        return self.motion

    def __repr__(self) -> str:
        t = self.motion.t
        return f"MotionFile('{self.file}', '{self.motion.outline.name}', {len(t)} times, {t[0]:g} .. {t[-1]:g} s)"

    def _repr_html_(self) -> str:
        t = self.motion.t
        facts = (
            ("file", str(self.file)),
            ("system", self.motion.outline.name),
            ("times", f"{len(t)}, {t[0]:g} to {t[-1]:g} s"),
        )
        return html_table("motion", (), facts)


@checked
def read_netcdf(file: str | Path, *, system: System | None = None) -> MotionFile:
    """Read a motion that ``Run.to_netcdf`` wrote, to show it.

    Parameters
    ----------
    file : path
    system : System, optional
        What the motion is drawn on, needed for files of earlier versions, which contain no shapes and joints.

    Raises
    ------
    ModelError
        The file cannot be read, or does not contain what is drawn.
    """
    file = Path(file)
    data = _dataset(file)
    if missing := [name for name in NEEDED if name not in data.variables]:
        raise ModelError(
            f"'{file}' holds no motion of bodies: it has no {', '.join(missing)}; give a file that a run was written to, such as "
            "the run.nc of talus simulate or one of the ..._motion.nc of talus gait"
        )
    outline = _outline(file, data) if system is None else outline_of(system)
    for dimension, parts in (("body", outline.bodies), ("limit", outline.limits), ("contact", outline.contacts)):
        names = [str(name) for name in data[dimension].values] if dimension in data.dims else []
        if names != (own := [part.name for part in parts]):
            raise ModelError(
                f"'{file}' has for {dimension} {', '.join(names) or 'none'}, but system '{outline.name}' "
                f"{', '.join(own) or 'none'}; give the system that it was made with"
            )
    if not len(data["time"]):
        raise ModelError(f"'{file}' holds no times; write a run that has outputs (t_eval)")
    return MotionFile(file, _motion(data, outline))


def _dataset(file: Path) -> xarray.Dataset:
    import xarray

    try:
        with opened(file, "give a NetCDF file of a run") as stream:
            return xarray.load_dataset(stream, engine="scipy", decode_timedelta=False)
    except ModelError:
        raise
    except Exception as error:  # whatever the library raises for another format
        raise ModelError(f"'{file}' is no NetCDF file of a run ({type(error).__name__}: {error}); give one") from None


def _outline(file: Path, data: xarray.Dataset) -> Outline:
    remedy = "give the model that it was made with, system=, or make the run again"
    if OUTLINE not in data.attrs:
        raise ModelError(f"'{file}' contains no shapes and joints, as files of earlier versions; {remedy}")
    try:
        return outline_from(data.attrs[OUTLINE])
    except (ValueError, KeyError, TypeError) as error:
        says = f"{type(error).__name__}: {error}"
        raise ModelError(f"'{file}': its outline of shapes and joints cannot be read ({says}); {remedy}") from None


def _motion(data: xarray.Dataset, outline: Outline) -> DrawnMotion:
    def of(dimension: str, *names: str) -> dict[str, list[Floats]]:
        """Arrays by the names along a dimension; none in files without the variables."""
        if any(name not in data for name in names):
            return {}
        arrays = [np.asarray(data[name].transpose("time", dimension, ...).values, dtype=float) for name in names]
        return {str(name): [array[:, k] for array in arrays] for k, name in enumerate(data[dimension].values)}

    def values_of(name: str) -> Floats:
        return np.asarray(data[name].values, dtype=float)

    r, p = ({name: array for name, (array,) in of("body", what).items()} for what in "rp")
    limits = of("limit", "limit_angle", "limit_latitude", "limit_longitude")
    contacts = of("contact", "contact_normal_force", "contact_force", "contact_point")
    loads = of("load", "load_force", "load_moment", "load_point")
    fixed = data["load_point_is_fixed"].values if loads else []
    reactions = of("joint", "reaction_force", "reaction_moment", "reaction_point")
    return DrawnMotion(
        outline=outline,
        t=values_of("time"),
        r=r,
        p=p,
        limits={name: LimitAngles(*arrays) for name, arrays in limits.items()},
        contacts={name: ContactForce(*arrays) for name, arrays in contacts.items()},
        centre_of_pressure=values_of("centre_of_pressure") if "centre_of_pressure" in data else None,
        loads={name: Wrench(*arrays) for name, arrays in loads.items()},
        moving_loads=tuple(name for name, at_rest in zip(loads, fixed, strict=True) if not at_rest),
        reactions={name: Wrench(*arrays) for name, arrays in reactions.items()},
        spans={
            force.name: np.stack([values_of(f"{force.name}.span_{axis}") for axis in "xyz"], axis=1)
            for force in outline.forces
            if f"{force.name}.{SPAN}" in data
        },
        activations={
            muscle.name: values_of(name)
            for muscle in outline.muscles
            for what in reversed(ACTIVATIONS)
            if (name := f"{muscle.name}.{what}") in data
        },
        energies=Energies(values_of("kinetic_energy"), values_of("potential_energy"), values_of("energy")),
    )
