"""Small lower limbs with markers on all bodies, and trials of markers that a known motion makes."""

import numpy as np

import models
from models.files.virtual_power import ways_at
from models.walking.capture import Capture
from models.walking.capture.trial import GroundForce
from models.walking.inverse_kinematics import axes_of_model
from tests.support.limb_models import MARKER, Limb

TIMES = np.linspace(0.0, 1.0, 51)
COUPLER = """<ConstraintSet><objects><CoordinateCouplerConstraint name="gear"><coupled_coordinates_function>
 <PolynomialFunction><coefficients>0.3 -0.5 0.05</coefficients></PolynomialFunction></coupled_coordinates_function>
 <independent_coordinate_names>knee_angle_r</independent_coordinate_names>
 <dependent_coordinate_name>knee_angle_l</dependent_coordinate_name></CoordinateCouplerConstraint></objects></ConstraintSet>"""


def marked(limb=None, *, without=(), more=""):
    """The text of limbs with four markers on each body."""
    text = (limb or Limb()).text()
    bodies = ["pelvis", *(f"{name}_{side}" for side in "rl" for name in ("shank", "talus", "calcn"))]
    random = np.random.default_rng(8)
    made = ""
    for body in bodies:
        for k, place in enumerate(random.uniform(-0.12, 0.12, (4, 3))):
            if body not in without:
                made += MARKER.format(f"{body}_{k}", body, " ".join(map(repr, place.tolist())))
    return text.replace("<MarkerSet><objects>", "<MarkerSet><objects>" + made).replace("</Model>", f"{more}</Model>")


def read(folder, text, name="marked.osim"):
    file = folder / name
    file.write_text(text)
    return models.read(file)


def smooth(reading, widest=0.5, seed=4):
    """Values of all coordinates over ``TIMES``; locked ones at their defaults, coupled ones by their coupler."""
    random, found = np.random.default_rng(seed), {}
    for name, one in reading.source.coordinates.items():
        a, b, c = random.uniform(-widest, widest, 3)
        found[name] = 0.5 * a + 0.5 * b * np.sin(2.0 * np.pi * TIMES + c)
        if one.locked:
            found[name] = np.full(len(TIMES), one.default)
    for name, one in reading.source.coordinates.items():
        if one.value is not None:
            found[name] = one.value(found[one.leader], 0)
    return found


def markers_of(reading, q):
    """Places of the markers (times, 3) in axes of the model, by their kinematics link by link."""
    names = list(q)
    values = np.stack([q[name] for name in names])
    ways, _ = ways_at(reading.source, names, np.stack([values, 0.0 * values, 0.0 * values]))
    return {
        frame.name: ways[frame.link][-1].at(frame.position)[0]
        for frame in reading.source.frames
        if frame.kind in ("marker", "site")
    }


def trial_of(reading, q, *, noise=0.0, **more):
    """The markers as a laboratory records them: z up."""
    random, turn = np.random.default_rng(9), axes_of_model(reading.source)
    markers = {
        name: (x + random.normal(0.0, noise, x.shape) if noise else x) @ turn
        for name, x in markers_of(reading, q).items()
    }
    return Capture("synthetic", TIMES, markers, **more)


def plates_of(reading, q):
    """Two plates, z up: one under each foot, loaded in turn; and the same as forces, points and moments in axes of the model."""
    names, turn = list(q), axes_of_model(reading.source)
    values = np.stack([q[name] for name in names])
    ways, _ = ways_at(reading.source, names, np.stack([values, 0.0 * values, 0.0 * values]))
    plates, wanted = [], {}
    for side, on in (("r", TIMES < 0.45), ("l", TIMES > 0.52)):
        r = ways[f"calcn_{side}"][-1].r @ turn
        cop = np.column_stack([r[:, 0] + 0.05, r[:, 1] - 0.02, 0.0 * TIMES])
        force = np.where(on[:, None], [40.0, -10.0, 500.0] * (1.0 + 0.1 * np.sin(7.0 * TIMES))[:, None], 0.0)
        moment = np.where(on, 3.0, 0.0)
        plates.append(GroundForce(f"plate_{side}", TIMES, force, np.where(on[:, None], cop, np.nan), moment))
        wanted[f"calcn_{side}"] = force @ turn.T, np.where(on[:, None], cop, 0.0) @ turn.T, np.outer(moment, turn[:, 2])
    return plates, wanted
