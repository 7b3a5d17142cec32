"""Public functions that read and write models, each with arguments with which it works."""

import numpy as np

import models
import runtime
from tests.support import osim_muscles
from tests.support.public_calls_of_trials import of_trials


def of_files(w):
    """Calls by name."""
    file = w.system.to_file(w.folder / "own.json")
    return {
        "System.to_file": (w.system.to_file, dict(file="system.json", overwrite=True)),
        "System.from_file": (runtime.System.from_file, dict(file=file, definitions=())),
        "Builder.to_file": (w.builder.to_file, dict(file="builder.json", overwrite=True)),
        "Builder.from_file": (runtime.Builder.from_file, dict(file=file, definitions=[])),
        "models.write": (models.write, dict(model=w.foot, file="foot.osim", ignore=(), overwrite=True)),
        "write_external_loads": (
            models.files.write_external_loads,
            dict(run=w.touching, file="loads.xml", overwrite=True),
        ),
        "read_angles": (
            models.files.read_angles,
            dict(file=w.run.to_csv(w.folder / "angles.csv"), system=w.system, names=None, in_degrees=None),
        ),
        "joint_coordinates": (runtime.system.joint_coordinates, dict(system=w.foot, state=w.foot_state)),
        "coordinate_units": (runtime.system.coordinate_units, dict(system=w.foot)),
        "span_at": (
            runtime.system.span_at,
            dict(kind="straight", vectors={"s_i": np.zeros((1, 3)), "s_j": np.ones((1, 3))}, parameters={}),
        ),
        "rigid_muscle": (
            runtime.system.rigid_muscle,
            dict(
                law="de_groote_as_opensim", length=np.full(2, 0.3), length_dot=np.zeros(2),
                constants={
                    "max_isometric_force": 1000.0, "optimal_fiber_length": 0.1, "tendon_slack_length": np.full(2, 0.2),
                    "pennation_angle_at_optimal": 0.1,
                },
            ),
        ),
        "rigid_constants": (
            runtime.system.rigid_constants,
            dict(
                law="de_groote_as_opensim", what="muscle 'm'",
                constants={
                    "max_isometric_force": 1000.0, "optimal_fiber_length": 0.1, "tendon_slack_length": np.full(2, 0.2),
                    "pennation_angle_at_optimal": 0.1,
                },
            ),
        ),
        "limit_moment": (
            runtime.system.limit_moment,
            dict(
                angle=np.zeros(2), rate=np.ones(2), lower=-1.0, upper=0.5, lower_stiffness=1.0, upper_stiffness=2.0, damping=0.1,
                transition=0.1,
            ),
        ),
        "muscle_paths": (models.files.muscle_paths, with_muscle(w.folder)),
    } | of_trials(w)  # fmt: skip


def with_muscle(folder):
    """A leg with a muscle, and a value of each of its coordinates."""
    points = osim_muscles.point("pelvis", "0 0 0") + osim_muscles.point("foot", "0.1 0 0")
    file = folder / "muscle.osim"
    file.write_text(osim_muscles.leg(osim_muscles.muscle("soleus", points)))
    description = models.read(file, ignore="couplers").source
    return dict(description=description, q={name: np.zeros(1) for name in description.coordinates})
