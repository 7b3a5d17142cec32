"""Checked loads and motors."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from types import ModuleType
from typing import Any

from runtime.support.arguments import unchecked
from runtime.support.arrays import Floats
from runtime.support.checks import not_negative
from runtime.support.errors import ModelError, unknown_name
from runtime.system.connection import KINDS, connection, definition
from runtime.system.coordinate_guides import guide_of
from runtime.system.global_axes import local_point
from runtime.system.parts import Joint, Load, Motor
from runtime.system.signal import Signal, as_signal


def build_load(
    name: str, body: str, bodies: Collection[str], *, force: Sequence[Signal | float], moment: Sequence[Signal | float],
    point: Sequence[Signal | float] | None, axes: str, attached_to: Floats | None,
) -> Load:  # fmt: skip
    """Return a checked load; see ``Builder.load``.  ``attached_to``: state (13,) of the body that its point belongs to.

    Raises
    ------
    ModelError
    """
    what = f"load '{name}'"
    if not isinstance(body, str) or body not in bodies:
        raise unknown_name(body, bodies, "body", "bodies", f"{what}: ")
    if axes not in ("global", "body"):
        raise ModelError(f"{what}: axes = {axes!r}; use 'global' or 'body'")
    if attached_to is not None:
        if axes == "body" or point is None:
            given = "has no point" if point is None else "is given in axes of the body"
            raise ModelError(f"{what}: attached=True, but it {given}; attached is for a point in global coordinates")
        point = local_point(attached_to, point, f"{what}: point").tolist()
    return unchecked(
        Load,
        name,
        body,
        force=_three_signals(force, f"{what}: force"),
        moment=_three_signals(moment, f"{what}: moment"),
        point=None if point is None else _three_signals(point, f"{what}: point"),
        axes=axes,
        attached=attached_to is not None,
    )


def build_motor(
    name: str, kind: str | ModuleType, body: str, other: str, bodies: Collection[str], *, effort: Signal | float,
    stiffness: float, damping: float, values: Mapping[str, Any], states: Mapping[str, Floats] | None, coordinate: str = "",
) -> Motor:  # fmt: skip
    """Return a checked motor; see ``Builder.motor``.

    Raises
    ------
    ModelError
    """
    module = definition("motor", name, kind)
    what = f"motor '{name}' ({module.NAME})"
    if not module.COORDINATE:
        able = ", ".join(key for key, m in KINDS.items() if m.COORDINATE)
        raise ModelError(f"{what}: drives no single coordinate; use {able}")
    given = {"stiffness": stiffness, "damping": damping}
    checked = {key: not_negative(value, f"{what}: {key}") for key, value in given.items()}
    if not any(checked.values()):
        values = {module.SIGNALS[0]: 0.0, **values}  # the target has no effect
    joint = connection("motor", name, module, body, other, values, bodies, states)
    return unchecked(Motor, joint, as_signal(effort, f"{what}: effort"), **checked, coordinate=coordinate)


def build_motor_on(
    name: str, coordinate: str, joints: Mapping[str, Joint], states: Mapping[str, Floats], *, target: Signal | float,
    **gains: Any,
) -> Motor:  # fmt: skip
    """Return a checked motor on a coordinate of a joint; ``states`` (13,) of the ground and the bodies in the reference pose.

    Raises
    ------
    ModelError
    """
    guide = guide_of(f"motor '{name}'", coordinate, joints, states)
    values = {**guide.values, KINDS[guide.kind].SIGNALS[0]: target}
    return build_motor(
        name, guide.kind, guide.body, guide.other, states, values=values, states=None, coordinate=coordinate, **gains
    )


def motors_in(motors: Iterable[Motor], joints: Iterable[Joint], states: Mapping[str, Floats]) -> tuple[Motor, ...]:
    """Motors with those on coordinates as another reference configuration, or other joints, have them."""
    by_name = {joint.name: joint for joint in joints}
    return tuple(
        build_motor_on(
            one.name, one.coordinate, by_name, states, target=next(iter(one.joint.signals.values())), effort=one.effort,
            stiffness=one.stiffness, damping=one.damping,
        )
        if one.coordinate
        else one
        for one in motors
    )  # fmt: skip


def _three_signals(values: Sequence[Signal | float], what: str) -> tuple[Signal, Signal, Signal]:
    try:
        x, y, z = values
    except (TypeError, ValueError):
        raise ModelError(f"{what} = {values!r}: give three signals or numbers") from None
    return as_signal(x, what), as_signal(y, what), as_signal(z, what)
