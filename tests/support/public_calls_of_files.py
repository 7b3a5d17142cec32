"""Public functions that read and write models, each with arguments with which it works."""

import models
import runtime
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
    } | of_trials(w)
