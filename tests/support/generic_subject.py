"""A subject whose right leg is the generic one of ``models/generic_leg.toml``: its joint centres and all axes."""

from dataclasses import replace

import numpy as np

from models.generic_bones import generic_leg
from models.walking import synthetic
from models.walking.geometry import frame
from models.walking.subject import Hinge, Segment

MEDIAL = np.array([0.0, 1.0, 0.0])
SUBTALAR, MTP = (0.78717961, 0.60474746, -0.12094949), (-0.5809544, 0.0, 0.81393611)  # axes of gait2392, in calcn


def ours(v):
    """A vector of OpenSim (x anterior, y up, z to the right) in axes of the subject (x anterior, y medial, z up)."""
    x, y, z = np.asarray(v, float)
    return np.array([x, -z, y])


def generic(knee, size=1.0):
    """Subject and upper leg, all lengths times ``size``; ``knee`` (3,) [m]: the tibia in the femur while standing, x and y."""
    centres, directions = generic_leg()["centres"], generic_leg()["directions"]
    hip, ankle, subtalar, mtp = (size * ours(centres[name]) for name in ("hip", "ankle", "subtalar", "mtp"))
    knee = size * ours([*knee, 0.0])
    known, above = synthetic.subject(), synthetic.upper_leg()

    def segment(like, A, r):
        return Segment(A, r, like.mass, like.inertia, like.markers, like.calibration)

    bodies = {
        "leg": segment(known.bodies["leg"], np.eye(3), knee),
        "main_foot": segment(known.bodies["main_foot"], np.eye(3), knee + ankle),
        "toes": segment(known.bodies["toes"], np.eye(3), knee + ankle),
    }
    crural = ours(directions["talocrural"])
    subject = replace(
        known, bodies=bodies, knee=np.zeros(3),
        talocrural=Hinge({"leg": ankle}, {"leg": -crural / np.linalg.norm(crural)}),
        talocalcaneal=Hinge({"main_foot": subtalar}, {"main_foot": ours(SUBTALAR) / np.linalg.norm(SUBTALAR)}),
        metatarsophalangeal=Hinge(
            {name: subtalar + mtp for name in ("main_foot", "toes")},
            {name: -ours(MTP) / np.linalg.norm(MTP) for name in ("main_foot", "toes")},
        ),
    )  # fmt: skip
    forward = ours(directions["pelvis"])
    pelvis = frame(np.cross(forward, MEDIAL), MEDIAL, "y")
    thigh = segment(above.thigh, frame(-knee, MEDIAL, "y"), np.zeros(3))
    upper = replace(
        above, hip_in_pelvis=pelvis.T @ hip, thigh=thigh, hip=np.zeros(3), knee=thigh.A.T @ knee, knee_axes=np.eye(3),
        pelvis_axes=pelvis,
    )  # fmt: skip
    return subject, upper
