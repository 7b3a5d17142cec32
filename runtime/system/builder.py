"""The builder of systems.  Every call checks its arguments; a call that raises an error leaves the builder unchanged."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

from numpy.typing import ArrayLike

from runtime.support.arguments import checked_class
from runtime.support.arrays import Floats, read_only
from runtime.support.checks import finite, finite_number
from runtime.support.errors import ModelError, warn
from runtime.support.files import free_file, write_text
from runtime.support.units import DOWN
from runtime.system.adjustable import Adjust, checked_adjust
from runtime.system.global_axes import Axes
from runtime.system.model_reading import read_model
from runtime.system.model_text import text_of
from runtime.system.model_writing import builder_document
from runtime.system.parts_builder import PartsBuilder
from runtime.system.system import System
from runtime.system.system_building import build_system


@checked_class
class Builder(PartsBuilder):
    """Collects bodies and joints; ``build`` checks, assembles and returns an immutable System.

    Parameters
    ----------
    name : str
        Name of the system, for messages and files.
    gravity : (3,) [m/s^2]
        Acceleration of free fall in global axes.
    axes : "body" or "global"
        Axes of points and directions in ``joint``, ``driver``, ``motor``, ``limit``, ``contact`` and ``force``; each call may
        choose its own.  "body": axes of the body, points from its centre of mass.  "global": global coordinates at the
        reference pose, the pose that ``body`` gave; points and directions are then fixed in their bodies.
    """

    def __init__(self, name: str = "system", *, gravity: ArrayLike = DOWN, axes: Axes = "body") -> None:
        if not isinstance(name, str) or not name.isprintable() or not name:
            raise ModelError(f"system name {name!r}: use printable characters on one line")
        self.name = name
        self.gravity = gravity
        self._begin(axes)

    @property
    def gravity(self) -> Floats:
        """Acceleration by gravity, (3,) [m/s^2]; it may be set."""
        return self._gravity

    @gravity.setter
    def gravity(self, value: ArrayLike) -> None:
        self._gravity = read_only(finite(value, (3,), "gravity"))

    # Long by its signature and docstring.
    def build(
        self,
        *,
        redundant: str = "keep",
        project_velocities: bool | None = None,
        time: float = 0.0,
        adjust: Adjust = None,
        check_units: bool = True,
    ) -> System:
        """Check the system, assemble the initial configuration by the least change, and return the system.

        An ``AssemblyWarning`` says where the system is not as its data state it: a body was moved, a velocity changed, a closed
        loop is locked or has nearly dependent rows, axes point against each other; see ``System.assembly.remarks``.

        Parameters
        ----------
        redundant : "keep" or "refuse"
            Treatment of rows that repeat others, as in closed loops of hinges: "keep" satisfies all rows at any time and lists
            the redundant ones in ``System.redundant``; the reactions in such a loop are undetermined, and those of least norm
            are reported.  "refuse" raises an error that names them.
        project_velocities : bool, optional
            True: make inconsistent initial velocities consistent by the least change.  False: refuse them.  Default: True for
            systems with drivers, which prescribe velocities, and with ``adjust``; else False.
        time : float [s]
            Time of the initial configuration, at which signals are evaluated.
        adjust : True, list of names, or mapping of names to accuracies, optional
            Data of joints that may give way, by the least change, so that closed loops of rounded data close in all poses of
            their motion: "l.rod", "s_j.hinge", "a_i.hinge" as in ``runtime.parameters``, or "hinge" for all data of a joint;
            True: all points, directions and lengths.  Accuracies [m], [rad] weigh the changes; default: 1 rad, and the longest
            lever arm.  ``System.assembly.adjustments`` lists the changes.
        check_units : bool
            Warn of lengths, masses, speeds and stiffnesses that no mechanism has, or that do not go with those of the other
            bodies, which were probably given in another unit.

        Raises
        ------
        ModelError, AssemblyError
            Naming bodies, joints and rows.
        """
        if redundant not in ("keep", "refuse"):
            raise ModelError(
                f"build: redundant = {redundant!r}; use 'keep' or 'refuse', and Builder.build_overdetermined for drivers that "
                "overdetermine the motion"
            )
        return self._built(redundant, project_velocities, time, adjust, check_units)

    def build_overdetermined(
        self,
        *,
        project_velocities: bool | None = None,
        time: float = 0.0,
        adjust: Adjust = None,
        check_units: bool = True,
    ) -> System:
        """Return a system whose drivers overdetermine its motion, such as those of markers on bodies.

        ``runtime.kinematics`` meets the drivers by least squares and the joints exactly.  Such a system cannot be simulated.
        Parameters, warnings and errors are those of ``build``.
        """
        return self._built("fit", project_velocities, time, adjust, check_units)

    def _built(
        self, redundant: str, project_velocities: bool | None, time: float, adjust: Adjust, check_units: bool
    ) -> System:
        if not self._made.starts:
            raise ModelError(f"system '{self.name}' has no body; add one with Builder.body")
        start_time = finite_number(time, "build: time")
        return build_system(
            self.name, self._made.parts, self.gravity, self._made.y, start_time, redundant, project_velocities,
            checked_adjust(adjust), check_units, dict(self._made.angles), dict(self._made.rates),
        )  # fmt: skip

    def to_file(self, file: str | Path, *, overwrite: bool = False) -> Path:
        """Write the model to a file of JSON, from which ``from_file`` makes an equal builder; returns the file.

        Raises
        ------
        ModelError
            Where the builder has no body, the file exists, unless ``overwrite``, or cannot be written.
        """
        if not self._made.starts:
            raise ModelError(f"system '{self.name}' has no body; add one with Builder.body")
        made = self._made
        value = builder_document(self.name, self.gravity, self.axes, made.parts, made.y, made.angles, made.rates)
        return write_text(free_file(Path(file), overwrite), text_of(value))

    @classmethod
    def from_file(cls, file: str | Path, *, definitions: Sequence[ModuleType] = ()) -> Builder:
        """Return a builder with the model of a file that ``to_file`` or ``System.to_file`` wrote, or of one written by hand.

        An ``AssemblyWarning`` names definitions that have changed since the file was written.

        Parameters
        ----------
        file : path
        definitions : sequence of modules
            What ``codegen.compile_joint`` and ``codegen.compile_force`` returned, for the user's own definitions of the model.

        Raises
        ------
        ModelError
            Naming the file, the line, the part and the rule.
        """
        model = read_model(Path(file), definitions)
        if sentence := model.remark():
            warn(sentence)
        builder = cls(model.name, gravity=model.gravity, axes=model.document.value.get("axes", "body"))
        builder._made = model.made
        return builder
