"""Reads the tasks of OpenSim's inverse kinematics: weights of markers, and values of coordinates with weights."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from models.files.osim_functions import numbers
from models.files.osim_xml import objects, text_of, truth
from models.files.xml_reading import read_xml
from runtime.support import Element, checked, shortened

TOOLS = ("InverseKinematicsTool", "MarkerPlacer", "ScaleTool")  # in which a set of tasks may lie
SET, MARKER, COORDINATE = "IKTaskSet", "IKMarkerTask", "IKCoordinateTask"
VALUES = ("default_value", "manual_value", "from_file")


@dataclass(frozen=True, eq=False)
class MarkerTasks:
    """Weights of markers; of coordinates the value [rad], [m] that is wanted, None for the default, and its weight; by name."""

    markers: Mapping[str, float]
    coordinates: Mapping[str, tuple[float | None, float]]


@checked
def read_marker_tasks(file: str | Path) -> MarkerTasks:
    """Read the tasks of an .xml file of OpenSim that apply: an ``IKTaskSet``, alone or in the settings of a tool.

    Parameters
    ----------
    file : str or Path

    Raises
    ------
    ModelError
        With file and line: no tasks, names that occur twice, weights below 0, and coordinates whose values are in a file.
    """
    root = read_xml(Path(file))
    sets = [one for one in root.within() if one.tag == SET]
    if root.tag != "OpenSimDocument" or len(sets) != 1:
        raise root.error(
            f"the root is <{root.tag}> with {len(sets)} <{SET}>; tasks are <OpenSimDocument> with one <{SET}>"
        )
    holder = Element(root.file, "holder", {}, sets[0].line, [sets[0]])
    markers: dict[str, float] = {}
    coordinates: dict[str, tuple[float | None, float]] = {}
    for e in objects(holder, SET, None):
        if e.tag not in (MARKER, COORDINATE):
            raise e.error(f"<{SET}> has a <{e.tag}>; tasks are <{MARKER}> and <{COORDINATE}>")
        name = e.need("name")
        if name in (markers if e.tag == MARKER else coordinates):
            raise e.error(f"task '{shortened(name)}' exists already; names must differ")
        weight = float(numbers(e, "weight", 1, (0.0,))[0])
        if weight < 0.0:
            raise e.error(f"task '{shortened(name)}': weight = {weight:g}, limit 0 or more; correct it")
        if not truth(e, "apply", True):
            continue
        if e.tag == MARKER:
            markers[name] = weight
        else:
            coordinates[name] = _value(e, name), weight
    return MarkerTasks(markers, coordinates)


def _value(e: Element, name: str) -> float | None:
    """The value of a coordinate; None for its default."""
    kind = text_of(e, "value_type") or "default_value"
    if kind not in VALUES or kind == "from_file":
        raise e.error(
            f"task '{shortened(name)}': value_type is '{shortened(kind)}'; use default_value or manual_value, "
            "or coordinates= for values of a file"
        )
    return float(numbers(e, "value", 1, (0.0,))[0]) if kind == "manual_value" else None
