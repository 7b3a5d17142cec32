"""Files of a motion laboratory, written from captures in every format that the readers take."""

import json
from functools import cache

import numpy as np
import pytest

from models.walking import synthetic


@cache
def trial_at_100_hz():
    """The synthetic walk with markers at 100 Hz."""
    return synthetic.trial(100.0)


def laboratory(folder, static=None, walk=None, form="csv", *, name="walk"):
    """Files of a static trial and a walk; gives their paths."""
    static, walk = static or synthetic.static(), walk or synthetic.trial()
    if form == "c3d":
        return [
            write_c3d(folder / "standing.c3d", static), write_c3d(folder / f"{name}.c3d", walk),
        ]  # fmt: skip
    y_up = "y up" in form or form == "trc"
    scale, unit = (1000.0, "mm") if "mm" in form or form == "trc" else (1.0, "m")
    turn = np.array([[1.0, 0, 0], [0, 0, 1], [0, -1, 0]]) if y_up else np.eye(3)
    if form == "trc":
        write_mot(folder / f"{name}_grf.mot", walk.forces, turn)
        write_meta(folder / f"{name}_meta.json", walk)
        return [write_trc(folder / "standing.trc", static, turn), write_trc(folder / f"{name}.trc", walk, turn)]
    up = "y" if y_up else "z"
    head = f"# units {unit}/N\n# {up} up\n"
    rows = [f"{label},{','.join(f'{v:.17g}' for v in scale * turn @ p[0])}" for label, p in static.markers.items()]
    (folder / "standing_markers.csv").write_text(head + "marker,x,y,z\n" + "\n".join(rows) + "\n")
    table = np.column_stack([walk.t, *(scale * p @ turn.T for p in walk.markers.values())])
    write_table(folder / f"{name}_markers.csv", head, ["time", *triples(walk.markers, "_")], table)
    names, columns = ["time"], [walk.forces[0].t] if walk.forces else []
    for k, plate in enumerate(walk.forces, 1):
        up_axis = "xyz".index(up)
        names += [f"p{k}_F{a}" for a in "xyz"] + [f"p{k}_cop{a}" for a in "xyz"] + [f"p{k}_T{up}_free"]
        columns += [plate.force @ turn.T, scale * plate.cop @ turn.T, scale * plate.free_moment * turn[up_axis, 2]]
    if columns:
        write_table(folder / f"{name}_forces.csv", head, names, np.column_stack(columns))
    write_meta(folder / f"{name}_meta.json", walk)
    return [folder / "standing_markers.csv", folder / f"{name}_markers.csv"]


def triples(labels, sign):
    return [f"{label}{sign}{axis}" for label in labels for axis in "xyz"]


def write_table(file, head, names, table):
    rows = [",".join("nan" if np.isnan(v) else f"{v:.17g}" for v in row) for row in table]
    file.write_text(head + ",".join(names) + "\n" + "\n".join(rows) + "\n")
    return file


def write_meta(file, walk):
    labels = {"foot_strike": "Foot Strike", "foot_off": "Foot Off"}
    events = [{"time": e.time, "side": e.side.title(), "label": labels[e.kind]} for e in walk.events]
    who = walk.subject
    meta = {"subject": who.name, "mass_kg": who.mass, "height_m": who.height, "sex": who.sex, "events": events}
    file.write_text(json.dumps(meta))
    return file


def write_trc(file, capture, turn):
    points = {label: 1000.0 * p @ turn.T for label, p in capture.markers.items()}
    rate = 100.0 if len(capture.t) == 1 else capture.rate
    lines = [
        f"PathFileType\t4\t(X/Y/Z)\t{file.name}",
        "DataRate\tCameraRate\tNumFrames\tNumMarkers\tUnits\tOrigDataRate\tOrigDataStartFrame\tOrigNumFrames",
        f"{rate}\t{rate}\t{len(capture.t)}\t{len(points)}\tmm\t{rate}\t1\t{len(capture.t)}",
        "Frame#\tTime\t" + "\t\t\t".join(points) + "\t\t",
        "\t\t" + "\t".join(f"X{k}\tY{k}\tZ{k}" for k in range(1, len(points) + 1)),
        "",
    ]
    for k, time in enumerate(capture.t):
        values = np.concatenate([p[k] for p in points.values()])
        lines.append(f"{k + 1}\t{time:.12g}\t" + "\t".join("" if np.isnan(v) else f"{v:.17g}" for v in values))
    file.write_text("\n".join(lines) + "\n")
    return file


def write_mot(file, plates, turn):
    names, columns = ["time"], [plates[0].t]
    for k, plate in enumerate(plates, 1):
        names += [f"{k}_ground_force_{kind}{axis}" for kind in "vp" for axis in "xyz"]
        names += [f"{k}_ground_torque_{axis}" for axis in "xyz"]
        free = np.outer(plate.free_moment, turn[:, 2])
        columns += [plate.force @ turn.T, np.nan_to_num(plate.cop @ turn.T), free]
    table = np.column_stack(columns)
    head = [file.name, "version=1", f"nRows={len(table)}", f"nColumns={table.shape[1]}", "inDegrees=no", "endheader"]
    rows = ["\t".join(f"{v:.17g}" for v in row) for row in table]
    file.write_text("\n".join([*head, "\t".join(names), *rows]) + "\n")
    return file


def write_c3d(file, capture, labels=None):
    ezc3d = pytest.importorskip("ezc3d")
    c = ezc3d.c3d()
    points = 1000.0 * np.stack(list(capture.markers.values()), axis=1).transpose(2, 1, 0)
    point = c["parameters"]["POINT"]
    rate = 100.0 if len(capture.t) == 1 else capture.rate
    point["RATE"]["value"], point["UNITS"]["value"] = [rate], ["mm"]
    point["LABELS"]["value"] = list(labels or capture.markers)
    c["data"]["points"] = np.vstack([points, np.ones((1, *points.shape[1:]))])
    if capture.forces:
        channels, corners, numbers = [], [], []
        samples = round(capture.forces[0].rate / rate) * len(capture.t)
        for plate in capture.forces:
            middle = np.array([*np.nanmean(plate.cop[:, :2], axis=0), plate.surface])
            square = middle + np.array([[1, 1, 0], [-1, 1, 0], [-1, -1, 0], [1, -1, 0]])
            moment = np.cross(np.nan_to_num(plate.cop - middle), plate.force)
            moment[:, 2] += plate.free_moment
            values = np.column_stack([plate.force, 1000.0 * moment])[:samples]
            values = np.vstack([values, np.zeros((samples - len(values), 6))])
            numbers.append(len(channels) + 1 + np.arange(6))
            channels += list(values.T)
            corners.append(1000.0 * square.T)
        analog = c["parameters"]["ANALOG"]
        analog["RATE"]["value"] = [capture.forces[0].rate]
        analog["LABELS"]["value"] = [f"channel {k + 1}" for k in range(len(channels))]
        analog["UNITS"]["value"] = ["N", "N", "N", "Nmm", "Nmm", "Nmm"] * len(capture.forces)
        c["data"]["analogs"] = np.array(channels)[None]
        c.add_parameter("FORCE_PLATFORM", "USED", [len(capture.forces)])
        c.add_parameter("FORCE_PLATFORM", "TYPE", [2] * len(capture.forces))
        c.add_parameter("FORCE_PLATFORM", "CORNERS", np.stack(corners, axis=-1))
        c.add_parameter("FORCE_PLATFORM", "ORIGIN", np.zeros((3, len(capture.forces))))
        c.add_parameter("FORCE_PLATFORM", "CHANNEL", np.stack(numbers, axis=-1).astype(float))
    if capture.events:
        words = {"foot_strike": "Foot Strike", "foot_off": "Foot Off"}
        c.add_parameter("EVENT", "USED", [len(capture.events)])
        c.add_parameter("EVENT", "CONTEXTS", [e.side.title() for e in capture.events])
        c.add_parameter("EVENT", "LABELS", [words[e.kind] for e in capture.events])
        c.add_parameter("EVENT", "TIMES", np.array([[0.0] * len(capture.events), [e.time for e in capture.events]]))
    c.write(str(file))
    return file
