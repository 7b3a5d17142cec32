"""Files of motion laboratories written for tests: C3D, TRC, MOT and CSV; and what is expected of a refused one."""

import numpy as np
import pytest

from models.walking.capture import read_capture
from runtime import ModelError
from tests.support.walking_person import FORCE_RATE, RATE

Y_UP = np.array([[1.0, 0, 0], [0, 0, 1], [0, -1, 0]])  # Talus to OpenSim: X forward, Y up, Z right


def refused(match, path, **options):
    """Require that reading raises an error of one line that matches; returns the message."""
    with pytest.raises(ModelError, match=match) as caught:
        read_capture(path, **options)
    said = str(caught.value)
    assert "\n" not in said and "Traceback" not in said
    return said


def write_trc(
    path, markers, t, *, units="mm", scale=1000.0, turn=None, frames=None, stated_markers=None, header_rate=RATE, rate=RATE,
    form=".6f",
):  # fmt: skip
    turn = np.eye(3) if turn is None else turn
    points = {label: scale * p @ np.asarray(turn).T for label, p in markers.items()}
    lines = [
        f"PathFileType\t4\t(X/Y/Z)\t{path.name}",
        "DataRate\tCameraRate\tNumFrames\tNumMarkers\tUnits\tOrigDataRate\tOrigDataStartFrame\tOrigNumFrames",
        f"{header_rate}\t{rate}\t{frames or len(t)}\t{stated_markers or len(points)}\t{units}\t{rate}\t1\t{len(t)}",
        "Frame#\tTime\t" + "\t\t\t".join(points) + "\t\t",
        "\t\t" + "\t".join(f"X{k}\tY{k}\tZ{k}" for k in range(1, len(points) + 1)),
        "",
    ]
    for k, time_ in enumerate(t):
        values = np.concatenate([p[k] for p in points.values()])
        lines.append("\t".join([str(k + 1), *("" if np.isnan(v) else format(v, form) for v in (time_, *values))]))
    path.write_text("\n".join(lines) + "\n")
    return path


def write_mot(
    path,
    plates,
    *,
    sign=1.0,
    names=("{}_ground_force_v", "{}_ground_force_p", "{}_ground_torque_"),
    rows=None,
    form=".9g",
):
    """Plates by name: (t, force, cop, free moment) in the axes of Talus."""
    header, columns = ["time"], []
    for plate, (_, force, cop, free) in plates.items():
        header += [name.format(plate) + axis for name in names for axis in "xyz"]
        moment = np.stack([0 * free, free, 0 * free], axis=1)
        columns += [sign * force @ Y_UP.T, np.nan_to_num(cop) @ Y_UP.T, sign * moment]
    table = np.column_stack([next(iter(plates.values()))[0], *columns])
    lines = [
        path.name,
        "version=1",
        f"nRows={rows or len(table)}",
        f"nColumns={table.shape[1]}",
        "inDegrees=no",
        "endheader",
    ]
    lines += ["\t".join(header), *("\t".join(format(v, form) for v in row) for row in table)]
    path.write_text("\n".join(lines) + "\n")
    return path


def write_csv(path, names, table, comments=("units m/N",), form=".9g"):
    lines = [f"# {line}" for line in comments] + [",".join(names)]
    lines += [",".join(format(v, form) for v in row) for row in table]
    path.write_text("\n".join(lines) + "\n")
    return path


def write_marker_csv(path, markers, t, **options):
    names = ["time", *(f"{label}_{axis}" for label in markers for axis in "xyz")]
    return write_csv(path, names, np.column_stack([t, *markers.values()]), **options)


def write_c3d(
    path,
    markers,
    *,
    units="mm",
    scale=1000.0,
    labels=None,
    plates=(),
    channels=None,
    analog_units=None,
    analog_labels=None,
    events=(),
    first_frame=None,
    parameters=(),
    rate=RATE,
    force_rate=FORCE_RATE,
):
    ezc3d = pytest.importorskip("ezc3d")
    file = ezc3d.c3d()
    points = scale * np.stack(list(markers.values()), axis=1).transpose(2, 1, 0)
    point = file["parameters"]["POINT"]
    point["RATE"]["value"], point["UNITS"]["value"] = [rate], [units] if units is not None else []
    point["LABELS"]["value"] = list(labels or markers)
    file["data"]["points"] = np.vstack([points, np.ones((1, *points.shape[1:]))])
    if channels is not None:
        analog = file["parameters"]["ANALOG"]
        analog["RATE"]["value"] = [force_rate]
        analog["LABELS"]["value"] = list(analog_labels or (f"channel {k + 1}" for k in range(len(channels))))
        analog["UNITS"]["value"] = list(analog_units)
        file["data"]["analogs"] = channels[None]
    if plates:
        file.add_parameter("FORCE_PLATFORM", "USED", [len(plates)])
        file.add_parameter("FORCE_PLATFORM", "TYPE", [plate["type"] for plate in plates])
        for name in ("CORNERS", "ORIGIN", "CHANNEL", "CAL_MATRIX"):
            if all(name.lower() in plate for plate in plates):
                stacked = np.stack([np.asarray(plate[name.lower()], float) for plate in plates], axis=-1)
                file.add_parameter("FORCE_PLATFORM", name, stacked)
    if events:
        file.add_parameter("EVENT", "USED", [len(events)])
        file.add_parameter("EVENT", "CONTEXTS", [side for _, side, _ in events])
        file.add_parameter("EVENT", "LABELS", [label for *_, label in events])
        file.add_parameter("EVENT", "TIMES", np.array([[0.0] * len(events), [at for at, *_ in events]]))
    for group, name, value in parameters:
        file.add_parameter(group, name, value)
    if first_frame is not None:
        file["header"]["points"]["first_frame"] = first_frame - 1
    file.write(str(path))
    return path
