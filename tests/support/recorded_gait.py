"""The recorded gait beside the repository: an adult barefoot over ground, another shod on a treadmill, and worked trials."""

import numpy as np
import pytest

from models.walking.capture import read_capture
from models.walking.leg_foot import JOINTS
from tests.support.paths import SHARED

GAIT = SHARED / "gait"
C3D = GAIT / "dev" / "schreiber_moissenet" / "c3d"
CSV = GAIT / "dev" / "schreiber_moissenet" / "csv"
OPENSIM = GAIT / "dev" / "opensim_subject01"

TRIALS = ("C3_01", "C3_02", "C3_03", "C3_05", "C4_05")
EACH_TRIAL = [pytest.param(name, marks=() if name == "C4_05" else pytest.mark.slow) for name in TRIALS]

ANKLE = JOINTS[:2]
MASS = 67.0  # [kg] of the adult

recorded = pytest.mark.skipif(
    not GAIT.is_dir(), reason="the recorded gait is not here: no ../shared/gait beside the repository"
)


def trial(name):
    pytest.importorskip("ezc3d")
    return read_capture(C3D / f"2014001_{name}.c3d")


def capture_of(side):
    walk = read_capture(OPENSIM / "subject01_walk1.trc")
    return walk.mirrored() if side == "left" else walk


def reference(file, one, *names):
    """Columns of a worked trial at the frames of the cycle, and which of the trial's own frames these are."""
    lines = [line for line in (GAIT / "reference" / file).read_text().splitlines() if not line.startswith("#")]
    table = np.array([[float(word or "nan") for word in line.split(",")] for line in lines[1:]])
    columns = dict(zip(lines[0].split(","), table.T, strict=True))
    inside = (one.percent > -1e-6) & (one.percent < 100.0 + 1e-6)
    rows = [int(np.argmin(np.abs(columns["time_s"] - time))) for time in one.t[inside]]
    assert np.allclose(columns["time_s"][rows], one.t[inside], atol=1e-6) and len(set(rows)) == len(rows) == 97
    return inside, *(columns[name][rows] for name in names)


def rms(values):
    return float(np.sqrt(np.mean(np.square(values))))


trials = pytest.mark.parametrize("trial", TRIALS)
