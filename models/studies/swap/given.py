"""What is swapped: the ankles of a model from a file, or those of a generic lower leg that is scaled to a static trial."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import models
from models.files.opensim_loads import ExternalForce, read_external_loads
from models.files.reading import Reading
from models.walking import with_own_forces, write_leg
from models.walking.analysis import scale_with_trial
from models.walking.anatomy import Anatomy
from models.walking.capture import Capture, read_capture
from models.walking.swapped_ankle import FILE, MODIFIED, UNIVERSAL, read_trial
from runtime import ModelError

SIDES = ("right", "left")
Angles = Mapping[str, float | None]  # of the axes, by their names in ``models.swap``


@dataclass(frozen=True)
class Trial:
    """Files of a walk and the options of reading them."""

    markers: Path | None
    loads: Path | None
    up: str | None
    units: str | None


@dataclass(frozen=True, eq=False)
class Given:
    """A model with its ankles, and its trial.

    ``ankles``: None for those with OpenSim's names; ``axes``, ``length``: as of ``models.swap``; ``mass`` [kg]: None for that
    of the model; ``notes``: assumptions; ``leg``: a generic leg, which has no residuals.
    """

    reading: Reading
    ankles: Sequence[tuple[str, str | None]] | None
    axes: Mapping[str, float] | None
    length: float | None
    markers: Path | Capture | None
    loads: Path | Sequence[ExternalForce] | None
    mass: float | None = None
    notes: Sequence[str] = ()
    leg: bool = False

    def sorts(self, joint: str) -> list[str]:
        """The kinds of ankles that are compared, for the joint that is asked for."""
        modified = [MODIFIED] if joint == "modified_universal" and self.length != 0.0 else []
        return [*([] if self.leg else [FILE]), UNIVERSAL, *modified]


@contextmanager
def model_of_file(
    model: Path,
    ignore: str,
    trial: Trial,
    ankles: Sequence[tuple[str, str | None]] | None,
    angles: Angles,
    length: float | None,
) -> Iterator[Given]:
    """A model of OpenSim."""
    if model.suffix.lower() != ".osim":
        raise ModelError(f"{model.name}: ankles are swapped in models of OpenSim; give an .osim file")
    axes = {name: value for name, value in angles.items() if value is not None}
    yield Given(models.read(model, ignore=ignore), ankles, axes or None, length, trial.markers, trial.loads)  # type: ignore[arg-type]


@contextmanager
def scaled_leg(
    static: Path, folder: Path, side: str, trial: Trial, anatomy: Anatomy, labels: Mapping[str, str], length: float | None,
    **subject_options: Any,
) -> Iterator[Given]:  # fmt: skip
    """The leg of a side, written into a folder; the file is removed again where the block fails."""
    if side not in SIDES:
        raise ModelError(f"side = {side!r}: use {', '.join(SIDES)}")
    standing = read_capture(static, up=trial.up, units=trial.units)
    walk = None if trial.markers is None else read_trial(trial.markers, trial.loads, trial.up, trial.units)
    mirrored = standing.mirrored() if side == "left" else standing
    options: dict[str, Any] = dict(anatomy=anatomy, markers=labels or None, **subject_options)
    subject = scale_with_trial(mirrored, walk or standing, side, **options)  # type: ignore[arg-type]
    file = folder / f"leg_{side}.osim"
    notes = [f"{file.name}: a generic lower leg, scaled to {static.name}"]
    notes += [f"{what}: {source}" for what, source in subject.sources.items()]
    ankles = [(f"ankle_{side[0]}", f"subtalar_{side[0]}")]
    try:
        reading, external = write_leg(subject, file), None
        if walk is not None and trial.loads is not None and trial.loads.suffix.lower() == ".xml":
            external, others = _own_loads(trial.loads, walk, reading)
            notes += others
        elif walk is not None:
            walk = with_own_forces(walk, side, markers=labels or None)
        yield Given(reading, ankles, None, length, walk, external, subject.mass, notes, leg=True)
    except ModelError:
        file.unlink(missing_ok=True)
        raise


def _own_loads(file: Path, walk: Capture, reading: Reading) -> tuple[list[ExternalForce], list[str]]:
    """The external loads that act on the leg, and a note on each of the others."""
    external = read_external_loads(file, span=(float(walk.t[0]), float(walk.t[-1])))
    own = [one for one in external if one.body in reading.source.bodies]
    if not own:
        raise ModelError(
            f"{file.name}: its forces act on {', '.join(one.body for one in external)}, which the lower leg lacks; it has "
            f"{', '.join(reading.source.bodies)}"
        )
    return own, [
        f"{file.name}: '{one.name}' acts on '{one.body}', which is left out" for one in external if one not in own
    ]
