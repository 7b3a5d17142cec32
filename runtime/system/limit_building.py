"""Building of limits: a limit is checked against its joint and described by the keywords of its definition."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType, ModuleType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from generated import law_cubic
from runtime.dynamics.layout import P, V
from runtime.dynamics.limits import (
    CONSERVATIVE,
    EXCESS,
    LAWS,
    OUTPUTS,
    POTENTIAL,
    PRINTED,
    LimitData,
    limit_workspace,
    restrain_all,
)
from runtime.jit.python_code import python_code
from runtime.support.arguments import checked, unchecked
from runtime.support.arrays import Floats, crossed, frozen, read_only
from runtime.support.errors import ModelError, shown
from runtime.support.numbers import floats
from runtime.system.cone import Cone, joined
from runtime.system.connection import (
    PLACES,
    checked_parameter,
    checked_vector,
    place_of_pull,
    refuse_name_of_shipped,
    refuse_other_keys,
)
from runtime.system.force_addresses import limit_addresses
from runtime.system.global_axes import local_direction
from runtime.system.parts import AXIS_TOLERANCE, LIMIT_BOUNDS, LIMIT_KINDS, LIMIT_LAWS, Bounds, Joint, Limit
from runtime.system.reference import reference, reference_data, rotation_matrix

PLANE_TOLERANCE = 1e-6  # [1] sine of the largest angle between the hinge's axis and the plane of xi and eta
STILL = 1e-6  # a rate below this fraction of the largest one counts as zero
OF_MOMENT = 1  # output of a law
FRAME = ("u_xi_i", "u_eta_i", "u_zeta_i")


def build_limit(
    name: str, joint: Joint, states: dict[str, Floats], *, reference: str, xi: ArrayLike, eta: ArrayLike, cone: Cone,
    direction: ArrayLike | None, law: str | ModuleType, global_axes: bool, parameters: Mapping[str, Any],
) -> Limit:  # fmt: skip
    """Return a checked limit of a joint; see ``Builder.limit``.

    ``states``: of the bodies in the reference configuration, (13,) by name.  ``global_axes``: those of xi, eta and direction.

    Raises
    ------
    ModelError
    """
    what = f"limit '{name}' of joint '{joint.name}' ({joint.kind})"
    moving = moving_body(what, joint, reference)
    if not isinstance(cone, Cone):
        raise ModelError(f"{what}: cone = {cone!r}; give runtime.Cone(longitudes, latitudes)")
    law_module = law_of_limit(what, law)
    checked = checked_law_parameters(what, law_module, parameters)
    if global_axes:
        xi, eta = (local_direction(states[reference], v, f"{what}: {k}") for k, v in (("xi", xi), ("eta", eta)))
        if direction is not None:
            direction = local_direction(states[moving], direction, f"{what}: direction")
    frame = _frame(what, xi, eta)
    u = None if direction is None else checked_vector(direction, what, "direction", AXIS_TOLERANCE)
    module = _definition_of(what, joint, u)
    values = {"damping": checked["damping"], **_geometry(what, module, joint, states, reference, moving, frame, u)}
    return unchecked(
        Limit, name, module.NAME, joint.name, reference, moving, cone, law=law if isinstance(law, str) else law_module.NAME,
        values=MappingProxyType(values), law_module=law_module, **checked,
    )  # fmt: skip


def moving_body(what: str, joint: Joint, reference: str) -> str:
    """The other body of a joint than the one that carries the cone."""
    ends = [joint.body_i, joint.body_j]
    if reference not in ends:
        raise ModelError(f"{what}: reference = {reference!r}; use one of its bodies, {' or '.join(ends)}")
    return ends[1 - ends.index(reference)]


def _frame(what: str, xi: ArrayLike, eta: ArrayLike) -> tuple[Floats, Floats, Floats]:
    """The unit vectors xi, eta, zeta = xi x eta of the joint's frame; refuse xi and eta that are not perpendicular."""
    xi, eta = checked_vector(xi, what, "xi", AXIS_TOLERANCE), checked_vector(eta, what, "eta", AXIS_TOLERANCE)
    if abs(xi.dot(eta)) > AXIS_TOLERANCE:
        raise ModelError(
            f"{what}: xi and eta must be perpendicular, their product is {xi @ eta:.3g}, limit 0 within "
            f"{AXIS_TOLERANCE:.0e}"
        )
    return xi, eta, crossed(xi, eta)


def _geometry(
    what: str, module: ModuleType, joint: Joint, states: dict[str, Floats], reference: str, moving: str,
    frame: tuple[Floats, Floats, Floats], u: Floats | None,
) -> dict[str, Any]:  # fmt: skip
    """Vectors and constants of a limit's definition by name; its body i is the reference body, its body j the moving body."""
    wanted = [name for name, *_ in module.VECTORS]
    sides = "ij" if reference == joint.body_i else "ji"  # of the joint: the reference body, and the moving one
    borrowed = {name: joint.values[f"{name[:-1]}{sides['ij'.index(name[-1])]}"] for name in module.BORROWS}
    given = dict(zip(FRAME, frame, strict=True)) | borrowed
    values: dict[str, Any] = {name: value for name, value in given.items() if name in wanted}
    if "e_i" in wanted:
        values |= _hinge_plane(what, borrowed["a_i"], *frame)
    if "u_r_j" in wanted and "e_i" in wanted:
        values["u_r_j"] = _hinge_direction(what, borrowed["a_j"], frame[2], states[reference], states[moving], u)
    elif "u_r_j" in wanted:
        values["u_r_j"] = _cone_direction(what, joint, states, moving, u)
    return {key: read_only(value) for key, value in values.items()}


def _definition_of(what: str, joint: Joint, u: Floats | None) -> ModuleType:
    """The definition for a kind of joint; the general one for other kinds, and for a given direction that it does not use."""
    general = next(module for module in LIMIT_KINDS.values() if not module.FITS)
    module = next((module for module in LIMIT_KINDS.values() if joint.kind in module.FITS), general)
    if u is None or any(name == "u_r_j" for name, *_ in module.VECTORS):
        return module
    if module.OWN_DIRECTION:
        raise ModelError(f"{what}: unused direction; {module.OWN_DIRECTION} is the direction that this limit restrains")
    return general


def law_of_limit(what: str, law: Any) -> ModuleType:
    """The module of a law: that of the papers, in either form, or a user's own."""
    if isinstance(law, ModuleType) and getattr(law, "SORT", "") == "law":
        refuse_name_of_shipped(what, law, (*LIMIT_LAWS, *LAWS))
        return law
    if not isinstance(law, str) or law not in LAWS:
        raise ModelError(
            f"{what}: law = {shown(law)}; use {', '.join(map(repr, LAWS))}, or what codegen.compile_limit(law) returned"
        )
    return law_cubic


def limit_bounds(law: ModuleType) -> dict[str, Bounds]:
    """Bounds of the parameters of a limit with a law; a law of the excess has no largest moment."""
    return {key: of for key, of in LIMIT_BOUNDS.items() if key != "max_moment" or law.RELATIVE} | law.BOUNDS


def checked_law_parameters(what: str, law: ModuleType, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a limit of its law; refuse other keywords, values outside their range, and moments that pull."""
    bounds = limit_bounds(law)
    refuse_other_keys(what, given, list(bounds), f"law {law.NAME} needs {', '.join(bounds)}")
    checked = {key: checked_parameter(given[key], f"{what}: {key}", of) for key, of in bounds.items()}
    own = {key: checked.pop(key) for key in law.PARAMETERS}
    if pull := place_of_pull(law, np.linspace(0.0, 1.0, PLACES), [[checked["compliance"], *own.values()]], OF_MOMENT):
        listed = ", ".join(f"{key} = {value:g}" for key, value in own.items())
        raise ModelError(
            f"{what}: law {law.NAME} with {listed} pulls: its moment is {pull[1]:.3g} at {pull[0]:.2g} of the "
            "compliance, limit 0; give other parameters"
        )
    return {"max_moment": 1.0, **checked, "parameters": MappingProxyType(own)}


def _hinge_plane(what: str, axis: Floats, xi: Floats, eta: Floats, zeta: Floats) -> dict[str, Any]:
    """The direction e in the plane of xi and eta, perpendicular to the hinge's axis, towards a longitude of 0 .. 180."""
    off = abs(float(axis.dot(zeta)))
    if off > PLANE_TOLERANCE:
        raise ModelError(
            f"{what}: the angle between the hinge's axis and the plane of xi and eta is "
            f"{np.rad2deg(np.arcsin(min(off, 1.0))):.3g} degrees, limit 0; choose xi and eta so that the axis lies in their "
            "plane, along one of them for instance"
        )
    along, across = float(axis.dot(xi)), float(axis.dot(eta))
    size = math.hypot(along, across)
    to_xi, to_eta = -across / size, along / size
    if to_eta < -PLANE_TOLERANCE or (abs(to_eta) <= PLANE_TOLERANCE and to_xi < 0.0):
        to_xi, to_eta = -to_xi, -to_eta
    return {"e_i": to_xi * xi + to_eta * eta, "to_xi": to_xi, "to_eta": to_eta}


def _hinge_direction(
    what: str, axis: Floats, zeta: Floats, of_reference: Floats, of_moving: Floats, u: Floats | None
) -> Floats:
    """The moving body's direction: the given one, or the one along zeta in the reference configuration."""
    if u is None:
        u = rotation_matrix(of_moving[P:V]).T @ rotation_matrix(of_reference[P:V]) @ zeta
    if np.linalg.norm(crossed(axis, u)) < STILL:
        raise ModelError(f"{what}: direction lies along the hinge's axis and does not turn; give one at an angle to it")
    return np.array(u)


def _cone_direction(what: str, joint: Joint, states: dict[str, Floats], moving: str, u: Floats | None) -> Floats:
    """The moving body's direction; refuse one that the joint does not allow to turn."""
    if u is None:
        raise ModelError(f"{what}: missing direction; give the unit vector of the moving body that stays in the cone")
    turns = _admitted_rotations(joint, states)
    if not np.abs(turns).max(initial=0.0) > STILL:
        raise ModelError(f"{what}: this joint admits no rotation that a cone could limit; use a joint with rotation")
    A = rotation_matrix(states[moving][P:V])
    if not np.abs(np.cross(turns, A @ u)).max(initial=0.0) > STILL:
        raise ModelError(
            f"{what}: direction lies along the only axis about which the joint turns; give one at an angle to it"
        )
    return u.copy()


def _admitted_rotations(joint: Joint, states: dict[str, Floats]) -> Floats:
    """Angular velocities of body j in the motions that the joint admits while body i is at rest, (n, 3)."""
    module = joint.module
    x, D = np.zeros(max(module.SIZE, 1)), np.zeros((len(module.ROWS), 12))
    i, j = states[joint.body_i], states[joint.body_j]
    reference(joint, i, j, x)
    python_code(module.jacobian)(i, j, x, D)
    _, values, motions = np.linalg.svd(D[:, 6:])
    rank = int((values > STILL * values.max(initial=0.0)).sum())
    return motions[rank:, 3:]


def limit_data(limits: Sequence[Limit], index: Mapping[str, int], states: Floats) -> LimitData:
    """Flat data of limits; ``index``: places of the bodies by name in ``states``, the reference configuration."""
    start, pieces = joined([limit.cone for limit in limits])
    return LimitData(
        kind=np.array([list(LIMIT_KINDS).index(limit.kind) for limit in limits], np.int64),
        **reference_data("limit", limits, index, states, ("reference", "moving")),
        law=np.array([PRINTED if limit.law == LAWS[PRINTED] else CONSERVATIVE for limit in limits], np.int64),
        address=limit_addresses(limits),
        constants=_constants(limits),
        max_moment=np.array([limit.max_moment for limit in limits], float),
        compliance=np.array([limit.compliance for limit in limits], float),
        damping=np.array([limit.damping for limit in limits], float),
        reach=np.array([np.cos(limit.cone.least_latitude) for limit in limits], float),
        ahead=np.array([limit.ahead for limit in limits], float).reshape(-1, 2),
        flat=np.array([[excess for excess, _ in limit.vertices] for limit in limits], float).reshape(-1, 2),
        vertex=np.array([[vertex for _, vertex in limit.vertices] for limit in limits], float).reshape(-1, 2, 3),
        start=start,
        pieces=pieces,
    )


def _constants(limits: Sequence[Limit]) -> Floats:
    """The compliance of each limit, and the parameters of its law (limits, C)."""
    rows = [[limit.compliance, *limit.parameters.values()] for limit in limits]
    found = np.zeros((len(limits), max(map(len, rows), default=1)))
    for k, row in enumerate(rows):
        found[k, : len(row)] = row
    return found


@dataclass(frozen=True)
class RestrictingMoment:
    """Response of a limit's law to directions: excess (n,) [rad], moment on the moving body (n, 3) [N m], energy (n,) [J].

    Directions and moments are in the joint's frame.
    """

    excess: Floats
    moment: Floats
    energy: Floats


@checked
def restricting_moment(limit: Limit, directions: ArrayLike) -> RestrictingMoment:
    """Return the response of a limit's law to directions (n, 3) in the joint's frame, of any length above 0.

    Raises
    ------
    ModelError
    """
    u = floats(directions, "restricting_moment: directions", "finite vectors (n, 3), longer than 0")
    lengths = np.linalg.norm(u, axis=1) if u.ndim == 2 and u.shape[1] == 3 else np.zeros(1)
    if not (np.isfinite(u).all() and (lengths > 0.0).all()):
        raise ModelError(
            f"restricting_moment: directions have the shape {u.shape}; give finite vectors (n, 3), longer than 0"
        )
    data = frozen(limit_data([limit], {limit.reference: 0, limit.moving: 0}, _STATE_AT_ORIGIN))
    outputs, moment = np.zeros((len(u), OUTPUTS)), np.zeros((len(u), 3))
    restrain_all(u / lengths[:, None], data, limit_workspace(data), outputs, moment)
    return RestrictingMoment(outputs[:, EXCESS], moment, outputs[:, POTENTIAL])


_STATE_AT_ORIGIN = np.eye(1, 13, 3)  # [r, p, v, omega] with the axes of the body along the global ones
