"""Writes muscles of OpenSim 4, and functions as its splines."""

from __future__ import annotations

from collections.abc import Mapping
from xml.etree.ElementTree import Element

from models.files.description import ConditionalPoint, Description, MovingPoint, Point
from models.files.osim_functions import Function
from models.files.osim_paths import CONDITION, LAWS, SPATIAL
from models.files.written_xml import child, element


def add_function(parent: Element, function: Function, **attributes: object) -> None:
    """A line, or the spline of OpenSim through the points at the inner knots of a function that is one."""
    if function.line is not None:
        child(element(parent, "LinearFunction", **attributes), "coefficients", function.line)
        return
    assert function.knots is not None  # lines and splines alone are written
    spline = element(parent, "SimmSpline", **attributes)
    child(spline, "x", function.knots[1:-1])
    child(spline, "y", function.coefficients[1:, 0])


def add_muscles(forces: Element, d: Description, paths: Mapping[str, str]) -> None:
    """The muscles of a description, whose paths have points alone; ``paths``: of coordinates, by name."""
    for muscle in d.muscles:
        made = element(forces, muscle.kind, name=muscle.name)
        child(made, "min_control", muscle.min_control)
        child(made, "max_control", muscle.max_control)
        path = element(made, "GeometryPath", name="path")
        points = element(element(path, "PathPointSet"), "objects")
        for n, point in enumerate(muscle.points, 1):
            _add_point(points, f"{muscle.name}-P{n}", point, paths)
        for tag, constant in LAWS[muscle.kind].properties.items():
            if (name := constant or tag) in muscle.constants:
                child(made, tag, muscle.constants[name])


def _add_point(points: Element, name: str, point: Point, paths: Mapping[str, str]) -> None:
    kind = {MovingPoint: "MovingPathPoint", ConditionalPoint: "ConditionalPathPoint"}.get(type(point), "PathPoint")
    made = element(points, kind, name=name)
    child(made, "socket_parent_frame", f"/bodyset/{point.link}")
    if isinstance(point, MovingPoint):
        for axis, function in zip(SPATIAL, point.functions, strict=True):
            child(made, f"socket_{axis}_coordinate", paths[point.coordinate])
            add_function(element(made, f"{axis}_location"), function)  # type: ignore[arg-type]
        return
    child(made, "location", point.location)
    if isinstance(point, ConditionalPoint):
        child(made, "socket_coordinate", paths[point.coordinate])
        child(made, "range", [point.lower + CONDITION, point.upper - CONDITION])  # OpenSim widens it
