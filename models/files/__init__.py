"""Models from files: MJCF of MuJoCo, URDF, OpenSim, and Talus's own.

``models.read`` gives a ``Reading``: its ``build()`` makes the system, its ``builder()`` a builder for additions; ``left_out`` and
``ignored`` list what is not carried over.  Readers fill one neutral ``Description``, of which one function makes the builder.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from runtime.support import late_names

if TYPE_CHECKING:
    from models.files.description import (
        Closure,
        ConditionalPoint,
        CylinderWrap,
        Description,
        FileController,
        FileCoordinate,
        Follower,
        Frame,
        Law,
        LimitForce,
        Link,
        MovingPoint,
        Muscle,
        Omitted,
        Outline,
        PathPoint,
        Step,
    )
    from models.files.external_loads import write_external_loads
    from models.files.marker_tasks import MarkerTasks, read_marker_tasks
    from models.files.measured_angles import MeasuredAngles, read_angles
    from models.files.muscle_lengths import MusclePath, muscle_paths
    from models.files.opensim_loads import ExternalForce, read_external_loads
    from models.files.own_file import OwnReading
    from models.files.reading import Reading
    from models.files.storage import Storage, read_storage
    from models.files.swapped_writing import write_swapped
    from models.files.virtual_power import Load, inverse_dynamics
    from models.files.writing import Writing
else:
    __getattr__, __dir__ = late_names(
        __name__,
        {
            "description": "Closure ConditionalPoint CylinderWrap Description FileController FileCoordinate Follower Frame Law "
            "LimitForce Link MovingPoint Muscle Omitted Outline PathPoint Step",
            "muscle_lengths": "MusclePath muscle_paths",
            "external_loads": "write_external_loads",
            "virtual_power": "Load inverse_dynamics",
            "marker_tasks": "MarkerTasks read_marker_tasks",
            "measured_angles": "MeasuredAngles read_angles",
            "opensim_loads": "ExternalForce read_external_loads",
            "own_file": "OwnReading",
            "reading": "Reading",
            "storage": "Storage read_storage",
            "swapped_writing": "write_swapped",
            "writing": "Writing",
        },
    )

__all__ = [
    "Closure",
    "ConditionalPoint",
    "CylinderWrap",
    "Description",
    "ExternalForce",
    "FileController",
    "FileCoordinate",
    "Follower",
    "Frame",
    "Law",
    "LimitForce",
    "Link",
    "Load",
    "MarkerTasks",
    "MeasuredAngles",
    "MovingPoint",
    "Muscle",
    "MusclePath",
    "Omitted",
    "Outline",
    "OwnReading",
    "PathPoint",
    "Reading",
    "Step",
    "Storage",
    "Writing",
    "inverse_dynamics",
    "muscle_paths",
    "read_angles",
    "read_external_loads",
    "read_marker_tasks",
    "read_storage",
    "write_external_loads",
    "write_swapped",
]
