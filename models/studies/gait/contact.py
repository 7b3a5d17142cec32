"""Soles of nine spheres under the foot of a walking trial: fitted, predicted from other trials, and with a changed arch.

After Moreira et al. (2011).  Beside them: the force from markers alone, and the mean curve of other adults as the baseline.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from models.studies.gait.curves import by_foot
from models.walking import contact_fit, sole
from models.walking.capture import Capture
from models.walking.contact import Prediction, in_stance, predict_ground_force
from models.walking.contact_fit import SoleFit
from models.walking.gait_result import Gait
from models.walking.plantar_load import PlantarLoad, mean_curves, predict_from_markers
from models.walking.preparation import Filters
from runtime import ModelError
from runtime.support.arrays import Floats

# The soles by name, in the order of tables and files.
SCALED, SHAPE, FITTED, OTHERS, CAVUS, FLAT = (
    "as scaled", "published shape", "fitted", "from other trials", "cavus", "flat foot",
)  # fmt: skip
MEAN, MARKERS = "mean curve of nine adults", "two rows, markers only"
ARCHES = {"normal": SHAPE, CAVUS: CAVUS, FLAT: FLAT}
SHARED = ("stiffness", "loss", "height")


@dataclass(frozen=True, eq=False)
class TrialSoles:
    """Soles of one trial: the prediction of each by its name, and the fits of the soles that are fitted.

    ``elsewhere``: for soles fitted to this trial, the error of the vertical force [body weights] on each other trial.
    ``mean``: force (n, 3) [N] and centre of pressure (n, 3) [m] of the mean curve.  ``markers``: the prediction from markers
    alone; None where markers are missing, for the reason in ``note``.
    """

    trial: Gait
    note: str
    soles: Mapping[str, Prediction]
    fits: Mapping[str, SoleFit]
    elsewhere: Mapping[str, Sequence[float]]
    mean: tuple[Floats, Floats]
    markers: PlantarLoad | None

    @property
    def curves(self) -> dict[str, tuple[Floats, Floats]]:
        """Force and centre of pressure that are not of the nine spheres, by name."""
        found = {MEAN: self.mean}
        return found if self.markers is None else found | {MARKERS: (self.markers.force, self.markers.cop)}


def analyse(
    found: Sequence[Gait],
    say: Callable[[str], None],
    recorded: Sequence[Capture] = (),
    filters: Filters | None = None,
) -> list[TrialSoles]:
    """Fit a sole to each trial, predict each trial by a sole fitted to the others and from markers, and vary the arch.

    ``recorded``: the recording of each trial, for the prediction from markers.
    """
    trial_soles = []
    feet = by_foot(found)
    several = all(len(trials) > 1 for trials in feet.values())
    for k, one in enumerate(found):
        say(f"fitting a sole to {one.name}")
        start = sole.scale_sole(feet[one.side][0].subject)
        others = [other for other in feet[one.side] if other is not one]
        fits = {
            SHAPE: contact_fit.fit_sole(one, start, shared=SHARED, prior=0.0),
            FITTED: contact_fit.fit_sole(one, start),
        }
        elsewhere = {
            name: [predict_ground_force(other, fit.sole).errors().vertical for other in others]
            for name, fit in fits.items()
        }
        if several:
            fits[OTHERS] = contact_fit.fit_sole(others, start)
        soles = {SCALED: start} | {name: fit.sole for name, fit in fits.items()}
        soles |= {CAVUS: fits[SHAPE].sole.cavus, FLAT: fits[SHAPE].sole.flat}
        floor, note = sole.floor_of(one)
        predictions = {name: predict_ground_force(one, sole, floor) for name, sole in soles.items()}
        markers, why = _from_markers(one, recorded[k], filters) if recorded else (None, "")
        trial_soles.append(TrialSoles(one, note + why, predictions, fits, elsewhere, mean_curves(one), markers))
    return trial_soles


def _from_markers(one: Gait, trial: Capture, filters: Filters | None) -> tuple[PlantarLoad | None, str]:
    """The prediction from markers alone, or why there is none."""
    try:
        return predict_from_markers(one, trial, filters=filters), ""
    except ModelError as error:
        return None, f"; no prediction from markers alone: {error}"


def over_stance(one: Gait, values: Floats) -> tuple[Floats, Floats]:
    """Percent of stance (m,) and values (m,) at the frames of stance, of values (n,) at all frames."""
    frames, cycle = in_stance(one), one.cycle
    percent = 100.0 * (one.t - cycle.strike) / (cycle.off - cycle.strike)
    return percent[frames], values[frames]
