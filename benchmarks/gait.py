"""Inverse dynamics of a walk: the error against a motion whose moments are known, and the time of the analysis.

The synthetic trial is written as a file of markers (TRC) and a file of forces (MOT), read, and analysed.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np

import runtime
from benchmarks.measure import Answer, Say, seconds
from models.studies.gait import files, recovery
from models.walking import analysis, gait_result, preparation, synthetic
from models.walking.capture import Capture, read_capture
from runtime.report import Report, Table
from runtime.support.files import write_text

FRAMES = 200
LIMIT_SECONDS, LIMIT_ERROR = 1.0, 1e-6


def ask(*, quick: bool, say: Say) -> Answer:
    """Measure errors and times of the synthetic trial."""
    say("the synthetic trial: errors")
    one = analysed(synthetic.trial())
    errors = [[f"{name}, relative", error, LIMIT_ERROR] for name, error in recovery.recovered(one).items()]
    back, feedback = recovery.replayed()
    errors.append(["forward simulation by the moments, against the motion [rad]", back, LIMIT_ERROR])
    note = f"Forward simulation through stance: a stiffness that keeps it stable added {feedback:.1e} N m at most."
    report = Report("Inverse dynamics of a walk")
    report.tables.append(Table("recovered", ["what", "error", "limit"], errors, note))
    say(f"times of a trial of {FRAMES} frames")
    rows = [
        [what, 1e3 * float(times.min()), 1e3 * float(np.median(times))]
        for what, times in timed(3 if quick else 15).items()
    ]
    report.tables.append(
        Table("times", ["what", "least [ms]", "median [ms]"], rows, f"{FRAMES} frames at {rate():.0f} Hz, warm.")
    )
    return Answer(report, {})


def analysed(trial: Capture) -> gait_result.Gait:
    """The synthetic trial through the whole analysis, unfiltered."""
    return analysis.analyse(synthetic.static(), trial, markers=synthetic.MARKERS, filters=preparation.Filters.off())


def rate() -> float:
    """Frame rate of the trial [Hz]."""
    return FRAMES / synthetic.T_END


def timed(repeats: int) -> dict[str, np.ndarray]:
    """Times of each part [s], by its name; a user waits for reading and analysis together."""
    static, trial = synthetic.static(), synthetic.trial(rate())
    with tempfile.TemporaryDirectory() as folder:
        marker_file = write(trial, Path(folder))

        def whole() -> gait_result.Gait:
            # These formats hold no events.
            read = replace(read_capture(marker_file), events=trial.events)
            return analysis.analyse(static, read, mass=synthetic.MASS, markers=synthetic.MARKERS)

        one = whole()  # loads the compiled code
        work: dict[str, Callable[[], object]] = {
            "reading TRC and MOT": lambda: read_capture(marker_file),
            "reading and analysis": whole,
            "inverse dynamics of the driven motion": lambda: runtime.inverse_dynamics(one.motion.system, one.t),
        }
        return seconds(work, repeats)


def write(trial: Capture, folder: Path) -> Path:
    """Write a capture as TRC and MOT in OpenSim's axes; returns the file of markers."""
    turn = files.OPENSIM
    file = folder / "walk.trc"
    labels = list(trial.markers)
    columns = np.concatenate([1e3 * trial.markers[label] @ turn.T for label in labels], axis=1)
    lines = [
        f"PathFileType\t4\t(X/Y/Z)\t{file.name}",
        "DataRate\tCameraRate\tNumFrames\tNumMarkers\tUnits\tOrigDataRate\tOrigDataStartFrame\tOrigNumFrames",
        f"{rate():.6f}\t{rate():.6f}\t{len(trial.t)}\t{len(labels)}\tmm\t{rate():.6f}\t1\t{len(trial.t)}",
        "Frame#\tTime\t" + "\t\t\t".join(labels),
        "\t\t" + "\t".join(f"{axis}{k}" for k in range(1, len(labels) + 1) for axis in "XYZ"),
        "",
    ]
    lines += [
        f"{k + 1}\t{t:.9f}\t" + "\t".join(f"{value:.9f}" for value in row)
        for k, (t, row) in enumerate(zip(trial.t, columns, strict=True))
    ]
    write_text(file, "\n".join(lines) + "\n")
    (plate,) = trial.forces
    moment = np.zeros_like(plate.force)
    moment[:, 1] = plate.free_moment
    names = [f"ground_force_{kind}{axis}" for kind in "vp" for axis in "xyz"] + [
        f"ground_torque_{axis}" for axis in "xyz"
    ]
    values = np.column_stack([plate.t, plate.force @ turn.T, np.nan_to_num(plate.cop @ turn.T), moment])
    runtime.results.write_storage(folder / "walk_grf.mot", "walk", ["time", *names], values)
    return file
