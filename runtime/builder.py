"""Building a system: every input is checked where it is given, and a refused call changes nothing."""

from __future__ import annotations

from dataclasses import dataclass, replace
from types import MappingProxyType, ModuleType
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from generated import dispatch
from runtime import assembly, foreign
from runtime.cones import Cone
from runtime.equations import FOREIGN, OMEGA, ROWS, STATE, Floats, P, R, Tables, V
from runtime.errors import ModelError
from runtime.rank import refuse_singular_joints, without_redundant_rows
from runtime.reference import ground_state, reference
from runtime.restrict import limit_of, limit_tables
from runtime.structure import GROUND as GROUND_INDEX
from runtime.structure import frozen, structure
from runtime.system import (
    UNIT_TOLERANCE,
    Assembly,
    Body,
    Joint,
    Limit,
    State,
    System,
    assembled,
    check_velocities,
    finite,
    unit,
)
from runtime.vectors import Vector, vector_tables, vectors_of

GROUND = "ground"
AXIS_TOLERANCE = 1e-9
TRIANGLE_TOLERANCE = 1e-9  # relative: published inertias are rounded, and flat bodies meet the limit exactly
GRAVITY = (0.0, 0.0, -9.81)
_KINDS: dict[str, ModuleType] = {module.NAME: module for module in dispatch.MODULES}


@dataclass(frozen=True)
class _Placed:
    """A body and where it starts."""

    body: Body
    start: Floats  # (13,)
    free: bool


class Builder:
    """Collects bodies and joints; ``build`` checks, assembles and returns an immutable System.

    Parameters
    ----------
    name : str
        Name of the system, for messages and files.
    gravity : (3,) [m/s^2]
        Acceleration of free fall in global axes.
    """

    def __init__(self, name: str = "system", *, gravity: ArrayLike = GRAVITY) -> None:
        if not isinstance(name, str) or not name.isprintable() or not name:
            raise ModelError(f"system name {name!r}: use printable characters on one line")
        self.name = name
        self.gravity = finite(gravity, (3,), "gravity")
        self.gravity.flags.writeable = False
        self._bodies: dict[str, _Placed] = {}
        self._joints: dict[str, Joint] = {}
        self._limits: dict[str, Limit] = {}

    def body(
        self,
        name: str,
        *,
        mass: float,
        inertia: ArrayLike,
        r: ArrayLike = (0.0, 0.0, 0.0),
        p: ArrayLike = (1.0, 0.0, 0.0, 0.0),
        v: ArrayLike = (0.0, 0.0, 0.0),
        omega: ArrayLike = (0.0, 0.0, 0.0),
        free: bool = False,
    ) -> None:
        """Add a rigid body.

        Parameters
        ----------
        name : str
        mass : float [kg]
        inertia : (3,) or (3, 3) [kg m^2]
            About the centre of mass in body axes: principal moments, or the symmetric matrix.
        r : (3,) [m]
            Centre of mass in global axes in the reference configuration.
        p : (4,)
            Euler parameters there, scalar first, of unit length.
        v, omega : (3,) [m/s], [rad/s]
            Initial velocities in global axes.
        free : bool
            The body may float: it need not be connected to the ground.

        Raises
        ------
        ModelError
        """
        what = f"body '{name}'"
        _name(name, "body", self._bodies)
        if name == GROUND:
            raise ModelError(f"body '{GROUND}': this name stands for the fixed global frame; choose another name")
        mass = float(finite(mass, (), f"{what}: mass"))
        if mass <= 0.0:
            raise ModelError(
                f"{what}: mass = {mass:g} kg, must be above 0 kg; a massless link is the joint 'modified_universal'"
            )
        start = np.zeros(STATE)
        start[R:P] = finite(r, (3,), f"{what}: r")
        start[P:V] = unit(finite(p, (4,), f"{what}: p"), f"{what}: p", UNIT_TOLERANCE, normalise=True)
        start[V:OMEGA] = finite(v, (3,), f"{what}: v")
        start[OMEGA:] = finite(omega, (3,), f"{what}: omega")
        self._bodies[name] = _Placed(Body(name, mass, _inertia(inertia, what)), start, free)

    def joint(self, name: str, kind: str | ModuleType, body_i: str, body_j: str, **values: ArrayLike) -> None:
        """Add a joint between two bodies.

        Parameters
        ----------
        name : str
        kind : str or module
            Name of a definition in ``codegen/joints.py``, or what ``codegen.compile_joint`` returned.
        body_i, body_j : str
            Names of the bodies, or "ground".
        **values
            The arguments of the definition: points ``s_*`` (3,) [m] and unit directions (3,), each in the axes of its
            own body, and constants.

        Raises
        ------
        ModelError
        """
        _name(name, "joint", self._joints)
        module = self._definition(name, kind)
        what = f"joint '{name}' ({module.NAME})"
        for body in (body_i, body_j):
            if not isinstance(body, str) or (body != GROUND and body not in self._bodies):
                known = ", ".join([*self._bodies, GROUND])
                raise ModelError(f"{what}: unknown body '{body}'; the bodies are {known}")
        if body_i == body_j:
            raise ModelError(f"{what}: joins body '{body_i}' to itself; give two different bodies")
        needs = ", ".join(module.KEYWORDS) or "no values"
        missing = [key for key in module.KEYWORDS if key not in values]
        if missing:
            raise ModelError(f"{what}: missing {', '.join(missing)}; needs {needs}")
        unknown = [key for key in values if key not in module.KEYWORDS]
        if unknown:
            raise ModelError(f"{what}: unused {', '.join(unknown)}; needs {needs}")
        checked: dict[str, Any] = {}
        for key, kind_of in ((v[0], v[1]) for v in module.VECTORS if v[0] in module.KEYWORDS):
            checked[key] = finite(values[key], (3,), f"{what}: {key}")
            if kind_of == "direction":
                unit(checked[key], f"{what}: {key}", AXIS_TOLERANCE)
            checked[key].flags.writeable = False
        for key, _ in module.PARAMETERS:
            checked[key] = float(finite(values[key], (), f"{what}: {key}"))
            if key.split("_")[0] == "l" and checked[key] < 0.0:
                raise ModelError(f"{what}: {key} = {checked[key]:g} m is a length, must not be below 0 m")
        self._joints[name] = Joint(name, module.NAME, body_i, body_j, MappingProxyType(checked), module)

    def limit(
        self,
        name: str,
        joint: str,
        *,
        reference: str,
        xi: ArrayLike,
        eta: ArrayLike,
        cone: Cone,
        max_moment: float,
        compliance: float,
        damping: float = 0.0,
        direction: ArrayLike | None = None,
        law: Literal["conservative", "printed"] = "conservative",
    ) -> None:
        """Limit the motion of a joint by a cone of circumduction.  Seeds 003 and 001.

        A spherical joint (and any joint with rotation that is not named below) has one cone for a direction of the moving
        body.  Revolute and cylindrical joints have a cone about their hinge.  A classical universal joint has one cone for a
        ``direction``, or, without one, a cone for each hinge.  The modified universal joint has a cone for each hinge, and
        its massless link carries the moments.  The hinge is the axis that the reference body holds; its angle is positive
        towards a longitude of 0 or 90 degrees (in general: of 0 .. 180, 180 excluded).

        Parameters
        ----------
        name : str
        joint : str
            Name of a joint that was added before.
        reference : str
            The body of the joint that carries the cone; the other one is the moving body.
        xi, eta : (3,)
            Unit vectors of the joint's frame in axes of the reference body; zeta = xi x eta is the axis of the cone.
        cone : Cone
        max_moment : float [N m]
            Of the restriction.
        compliance : float [rad]
            Excess at which it is reached.
        damping : float [N m s]
            Of the hinge's rate, or of the relative angular velocity where there is no hinge.
        direction : (3,), optional
            Unit vector of the moving body that stays in the cone, in its axes.  Default for revolute and cylindrical joints:
            the direction that is along zeta in the reference configuration.
        law : "conservative" or "printed"
            The moment with a potential, or the moment as printed in seed 003, Eqs. (32)-(33), whose work around a closed
            loop is not zero where the cone is irregular.

        Raises
        ------
        ModelError
        """
        _name(name, "limit", self._limits)
        if not isinstance(joint, str) or joint not in self._joints:
            known = ", ".join(self._joints) or "none yet"
            raise ModelError(f"limit '{name}': unknown joint {joint!r}; the joints are {known}")
        states = {GROUND: ground_state()} | {key: placed.start for key, placed in self._bodies.items()}
        self._limits[name] = limit_of(
            name, self._joints[joint], states, reference=reference, xi=xi, eta=eta, cone=cone, max_moment=max_moment,
            compliance=compliance, damping=damping, direction=direction, law=law,
        )  # fmt: skip

    @staticmethod
    def _definition(name: str, kind: str | ModuleType) -> ModuleType:
        module = _KINDS.get(kind) if isinstance(kind, str) else kind
        if module is None:
            known = ", ".join(_KINDS)
            raise ModelError(
                f"joint '{name}': unknown kind '{kind}'; use {known}, or codegen.compile_joint(definition)"
            )
        if not all(hasattr(module, part) for part in ("evaluate", "reference", "KEYWORDS")):
            raise ModelError(
                f"joint '{name}': {kind!r} is no kind of joint; pass a name or codegen.compile_joint(definition)"
            )
        if len(module.ROWS) > ROWS:
            raise ModelError(f"joint '{name}' ({module.NAME}): {len(module.ROWS)} rows, limit {ROWS}; use two joints")
        if module.SIGNALS:
            signals = ", ".join(module.SIGNALS)
            raise ModelError(
                f"joint '{name}' ({module.NAME}): driven by {signals}; only joints without signals can be built"
            )
        return module

    def build(self, *, redundant: Literal["refuse", "remove"] = "refuse", project_velocities: bool = False) -> System:
        """Check the whole, assemble the initial configuration by the least change, and return the system.

        Parameters
        ----------
        redundant : "refuse" or "remove"
            What to do with rows that repeat others: name them in an error, or remove them.  The motion is the same
            without them; their reactions are undetermined.  ``System.redundant`` names what was removed.
        project_velocities : bool
            Change the initial velocities by as little as makes them consistent, where they are not, instead of refusing
            them.

        Raises
        ------
        ModelError, AssemblyError
            Naming bodies, joints and rows.
        """
        if redundant not in ("refuse", "remove"):
            raise ModelError(f"build: redundant = {redundant!r}; use 'refuse' or 'remove'")
        if not self._bodies:
            raise ModelError(f"system '{self.name}' has no body; add one with Builder.body")
        self._refuse_disconnected()
        bodies = tuple(placed.body for placed in self._bodies.values())
        joints = tuple(self._joints.values())
        y = np.concatenate([placed.start for placed in self._bodies.values()])
        tables, kept_alive = self._tables(y)
        names = tuple(self._bodies)
        system = System(
            name=self.name, bodies=bodies, joints=joints, limits=tuple(self._limits.values()), gravity=self.gravity,
            state=State(names, y), assembly=Assembly(0, 0.0, 0.0, "", 0.0, ""), degrees_of_freedom=0, rank=0, redundant=(),
            tables=tables, kept_alive=kept_alive,
        )  # fmt: skip
        refuse_singular_joints(system, y)
        start, iterations, residual = assembled(system, y)
        refuse_singular_joints(system, start)
        system = without_redundant_rows(system, start, redundant)
        rank = int(system.tables.active.sum())
        if project_velocities:
            start = assembly.project_velocities(start, system.tables, system.work())
        check_velocities(system, start, "make them consistent, or build(project_velocities=True)")
        return replace(
            system, state=State(names, start), rank=rank, degrees_of_freedom=6 * len(bodies) - rank,
            assembly=_change(names, y, start, iterations, residual),
        )  # fmt: skip

    def _refuse_disconnected(self) -> None:
        connected = {GROUND} | {name for name, placed in self._bodies.items() if placed.free}
        grew = True
        while grew:
            before = len(connected)
            for joint in self._joints.values():
                if {joint.body_i, joint.body_j} & connected:
                    connected |= {joint.body_i, joint.body_j}
            grew = len(connected) > before
        loose = [name for name in self._bodies if name not in connected]
        if loose:
            raise ModelError(
                f"system '{self.name}': no chain of joints leads from {', '.join(repr(n) for n in loose)} to the ground; "
                "add a joint, or say free=True of a body that may float"
            )

    def _tables(self, y: Floats) -> tuple[Tables, tuple[Any, ...]]:
        """Flat tables of all joints; held constants and carried vectors are taken from the configuration y."""
        bodies = [placed.body for placed in self._bodies.values()]
        joints = list(self._joints.values())
        index = {GROUND: GROUND_INDEX} | {body.name: k + 1 for k, body in enumerate(bodies)}
        addresses = {id(j.module): foreign.address_of(j.module) for j in joints if _KINDS.get(j.kind) is not j.module}
        body_i, body_j = (
            np.array([index[getattr(j, side)] for j in joints], np.int64) for side in ("body_i", "body_j")
        )
        rows = np.array([len(j.rows) for j in joints], np.int64)
        inertia = np.array([np.eye(3)] + [body.inertia for body in bodies])
        vectors: list[Vector] = []
        x = np.zeros((len(joints), max([j.module.SIZE for j in joints], default=1)))
        states = np.vstack([ground_state(), y.reshape(-1, STATE)])
        for k, joint in enumerate(joints):
            owner = {"i": int(body_i[k]), "j": int(body_j[k])}
            local = reference(joint, states[owner["i"]], states[owner["j"]], x[k])
            vectors += vectors_of(k, joint.module.VECTORS, owner, local)
        numbers, places, owners, locals_ = vector_tables(vectors)
        kinds = list(_KINDS)
        tables = Tables(
            mass=np.array([1.0] + [body.mass for body in bodies]),
            inertia=inertia,
            inertia_inverse=np.linalg.inv(inertia).astype(float),
            gravity=self.gravity.copy(),
            alpha=5.0,
            beta=5.0,
            kind=np.array([FOREIGN if id(j.module) in addresses else kinds.index(j.kind) for j in joints], np.int64),
            address=np.array(
                [addresses[id(j.module)][0] if id(j.module) in addresses else 0 for j in joints], np.int64
            ),
            body_i=body_i,
            body_j=body_j,
            rows=rows,
            active=rows.copy(),
            active_row=np.tile(np.arange(ROWS), (len(joints), 1)),
            vector_joint=numbers,
            vector_place=places,
            vector_body=owners,
            vector_local=locals_,
            x=x,
            structure=structure(body_i, body_j),
            limits=limit_tables(list(self._limits.values()), index, states),
        )
        return frozen(tables), tuple(addresses.values())


def _name(name: str, what: str, taken: dict[str, Any]) -> None:
    if not isinstance(name, str) or not name.isidentifier():
        raise ModelError(f"{what} name {name!r}: use letters, digits and '_', and begin with a letter")
    if name in taken:
        raise ModelError(f"{what} '{name}' exists already; names must differ")


def _inertia(value: ArrayLike, what: str) -> Floats:
    given = np.array(value, dtype=object)
    shape = (3,) if given.ndim == 1 else (3, 3)
    matrix = finite(value, shape, f"{what}: inertia")
    matrix = np.diag(matrix) if matrix.ndim == 1 else matrix
    if not np.allclose(matrix, matrix.T, rtol=1e-12, atol=0.0):
        raise ModelError(f"{what}: inertia is not symmetric; give the full symmetric matrix or three principal moments")
    matrix = (matrix + matrix.T) / 2
    moments = np.linalg.eigvalsh(matrix)
    listed = ", ".join(f"{m:.6g}" for m in moments)
    if moments[0] <= 0.0:
        raise ModelError(f"{what}: principal moments of inertia {listed} kg m^2, all must be above 0")
    excess = moments[2] - moments[0] - moments[1]
    if excess > TRIANGLE_TOLERANCE * moments[2]:
        raise ModelError(
            f"{what}: principal moments of inertia {listed} kg m^2 violate the triangle inequality, "
            f"{moments[2]:.6g} > {moments[0] + moments[1]:.6g}; no distribution of mass has them"
        )
    matrix.flags.writeable = False
    return matrix


def _change(names: tuple[str, ...], before: Floats, after: Floats, iterations: int, residual: float) -> Assembly:
    a, b = before.reshape(-1, STATE), after.reshape(-1, STATE)
    moves = np.linalg.norm(b[:, R:P] - a[:, R:P], axis=1)
    # The chord between Euler parameters keeps its digits near zero, which the arc cosine of their product does not.
    chords = [min(np.linalg.norm(q - p), np.linalg.norm(q + p)) for p, q in zip(a[:, P:V], b[:, P:V], strict=True)]
    turns = 4 * np.arcsin(np.clip(np.array(chords) / 2, 0.0, 1.0))
    m, n = int(moves.argmax()), int(turns.argmax())
    return Assembly(iterations, residual, float(moves[m]), names[m], float(turns[n]), names[n])
