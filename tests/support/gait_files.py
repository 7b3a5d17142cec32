"""Files of a motion laboratory, written from captures in every format that the readers take."""

import json
from functools import cache

import numpy as np

from models.walking import synthetic
from tests.support import capture_files
from tests.support.capture_files import Y_UP, write_csv, write_marker_csv, write_mot

EXACT = ".17g"


@cache
def trial_at_100_hz():
    """The synthetic walk with markers at 100 Hz."""
    return synthetic.trial(100.0)


def laboratory(folder, static=None, walk=None, form="csv", *, name="walk"):
    """Files of a static trial and a walk; gives their paths."""
    static, walk = static or synthetic.static(), walk or synthetic.trial()
    if form == "c3d":
        return [write_c3d(folder / "standing.c3d", static), write_c3d(folder / f"{name}.c3d", walk)]
    write_meta(folder / f"{name}_meta.json", walk)
    if form == "trc":
        plates = {k: (p.t, p.force, p.cop, p.free_moment) for k, p in enumerate(walk.forces, 1)}
        write_mot(folder / f"{name}_grf.mot", plates, form=EXACT)
        return [write_trc(folder / "standing.trc", static, Y_UP), write_trc(folder / f"{name}.trc", walk, Y_UP)]
    up, turn = ("y", Y_UP) if "y up" in form else ("z", np.eye(3))
    scale, unit = (1000.0, "mm") if "mm" in form else (1.0, "m")
    head = dict(comments=(f"units {unit}/N", f"{up} up"), form=EXACT)
    files = [folder / "standing_markers.csv", folder / f"{name}_markers.csv"]
    rows = [",".join([label, *(format(v, EXACT) for v in scale * turn @ p[0])]) for label, p in static.markers.items()]
    files[0].write_text("\n".join([f"# units {unit}/N", f"# {up} up", "marker,x,y,z", *rows, ""]))
    write_marker_csv(files[1], {label: scale * p @ turn.T for label, p in walk.markers.items()}, walk.t, **head)
    names, columns = ["time"], [plate.t for plate in walk.forces[:1]]
    for k, plate in enumerate(walk.forces, 1):
        names += [f"p{k}_F{a}" for a in "xyz"] + [f"p{k}_cop{a}" for a in "xyz"] + [f"p{k}_T{up}_free"]
        free = plate.free_moment * turn["xyz".index(up), 2]
        columns += [plate.force @ turn.T, scale * plate.cop @ turn.T, scale * free]
    if columns:
        write_csv(folder / f"{name}_forces.csv", names, np.column_stack(columns), **head)
    return files


def write_meta(file, walk):
    labels = {"foot_strike": "Foot Strike", "foot_off": "Foot Off"}
    events = [{"time": e.time, "side": e.side.title(), "label": labels[e.kind]} for e in walk.events]
    who = walk.subject
    meta = {"subject": who.name, "mass_kg": who.mass, "height_m": who.height, "sex": who.sex, "events": events}
    file.write_text(json.dumps(meta))
    return file


def rate_of(capture):
    return 100.0 if len(capture.t) == 1 else capture.rate


def write_trc(file, capture, turn):
    """Markers in mm, in other axes."""
    rates = dict.fromkeys(("header_rate", "rate"), rate_of(capture))
    return capture_files.write_trc(file, capture.markers, capture.t, turn=turn, form=EXACT, **rates)


def write_c3d(file, capture, labels=None):
    plates, channels, rate = [], [], rate_of(capture)
    for plate in capture.forces:
        samples = round(plate.rate / rate) * len(capture.t)
        middle = np.array([*np.nanmean(plate.cop[:, :2], axis=0), plate.surface])
        square = middle + np.array([[1, 1, 0], [-1, 1, 0], [-1, -1, 0], [1, -1, 0]])
        moment = np.cross(np.nan_to_num(plate.cop - middle), plate.force)
        moment[:, 2] += plate.free_moment
        values = np.zeros((samples, 6))
        values[: len(plate.t)] = np.column_stack([plate.force, 1000.0 * moment])[:samples]
        numbers = len(channels) + 1.0 + np.arange(6)
        plates.append({"type": 2, "corners": 1000.0 * square.T, "origin": np.zeros(3), "channel": numbers})
        channels += list(values.T)
    words = {"foot_strike": "Foot Strike", "foot_off": "Foot Off"}
    names, units = [f"channel {k + 1}" for k in range(len(channels))], [*"NNN", "Nmm", "Nmm", "Nmm"] * len(plates)
    more = capture.analog
    if more is not None:  # at the rate of the plates, with as many samples in each frame
        channels += more.channels.values()
        names, units = [*names, *more.channels], [*units, *more.units.values()]
    analog = {} if not channels else dict(
        channels=np.array(channels), analog_units=units, analog_labels=names,
        force_rate=capture.forces[0].rate if plates else more.rate,
    )  # fmt: skip
    events = [(e.time, e.side.title(), words[e.kind]) for e in capture.events]
    return capture_files.write_c3d(
        file, capture.markers, labels=labels, plates=plates, events=events, rate=rate, **analog
    )
