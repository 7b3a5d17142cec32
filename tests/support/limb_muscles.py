"""Muscles on the limbs of ``limb_models``: three across both hinges, one across the knee too, one that ends on the talus."""

from tests.support import osim_muscles as osim

ENDS = {
    "soleus": (("shank", "-0.02 -0.15 0"), ("calcn", "-0.05 0.02 -0.01")),
    "tib_ant": (("shank", "0.03 -0.2 0.01"), ("calcn", "0.11 0.02 -0.02")),
    "per_long": (("shank", "-0.01 -0.1 0.04"), ("calcn", "0.06 -0.01 0.05")),
    "gastroc": (("pelvis", "-0.02 -0.2 0.08"), ("calcn", "-0.05 0.02 -0.01")),
    "to_talus": (("shank", "0.03 -0.3 0.02"), ("talus", "0.03 0.02 0.01")),
}
FIBRES = (
    "<max_isometric_force>2000</max_isometric_force><optimal_fiber_length>0.1</optimal_fiber_length>"
    "<tendon_slack_length>{}</tendon_slack_length>"
)
SLACK = {"soleus": 0.2, "tib_ant": 0.17, "per_long": 0.27, "gastroc": 0.55, "to_talus": 0.05}


def muscles():
    """A set of forces with the muscles of both sides, as text."""
    made = ""
    for side in "rl":
        for name, ends in ENDS.items():
            points = "".join(
                osim.point(body if body == "pelvis" else f"{body}_{side}", _mirrored(at, side)) for body, at in ends
            )
            made += osim.muscle(f"{name}_{side}", points, more=FIBRES.format(SLACK[name]))
    return f"<ForceSet><objects>{made}</objects></ForceSet>"


def _mirrored(at, side):
    x, y, z = map(float, at.split())
    return f"{x} {y} {z if side == 'r' else -z}"
