"""Claims of Moreira et al. (2011) on the gait cycle: vertical force, phases of contact, pathologies of the foot."""

from __future__ import annotations

import numpy as np
from scipy.signal import find_peaks

from models.studies.claims.ground_runs import READINGS, GroundRuns
from models.studies.claims.verdicts import Claims, listed
from models.walking import synthetic
from runtime.support import GRAVITY
from runtime.support.arrays import Floats

GOOD = 0.1  # [body weights] root mean square difference that counts as good agreement; of the mean curve of other adults 0.10
ALIKE = 0.01  # [body weights] difference of forces that is not visible in a plot
LOADED = 0.1  # [body weights] from which a centre of pressure counts
PHASES = {0.10: (1, 2, 3), 0.49: (1, 2, 3, 4, 5, 6, 7, 8), 0.68: (7, 8, 9)}  # printed contacts by fraction of stance
PARTS = {"heel contact": (0.0, 0.3), "mid stance": (0.3, 0.6), "toe off": (0.6, 1.0)}
CHANGE = (
    "on a prescribed motion the force of a sphere depends on its own depth alone: a higher arch can only take force away, and "
    "takes none where the spheres of the arch, 4 and 5, are off the ground before"
)
SOFT = next(iter(READINGS))  # the reading with which the sole touches the ground at the height that fits best


def force(claims: Claims, e: GroundRuns) -> None:
    """Fig. 8."""
    errors = {reading: e.error(e.walked[reading, "normal"].force) for reading in READINGS}
    fitted = e.fitted.errors().vertical
    claims.check(
        "Fig. 8",
        "the vertical force along a prescribed gait cycle is in good agreement with the measured one",
        computed=f"root mean square difference {_by_reading(errors, '.2f')} body weights at the best height of the sole; with "
        f"the stiffness and height of every sphere fitted {fitted:.2f}",
        holds=[error <= GOOD for error in (*errors.values(), fitted)],
        reason="depends on the fit: nine spheres of one stiffness do not give the force at any height; with 40 N/mm^1.5 no "
        "contact at all is nearest to it.  python -m benchmarks contact compares soles on measured adults",
    )


def _by_reading(values: dict[str, float], form: str) -> str:
    return ", ".join(f"{value:{form}} ({reading})" for reading, value in values.items())


def phases(claims: Claims, e: GroundRuns) -> None:
    """Fig. 9."""
    own = e.walked[SOFT, "normal"]
    for stance, printed in PHASES.items():
        found = e.in_contact(own, stance)
        claims.check(
            "Fig. 9",
            f"{100 * stance:.0f} % of stance: spheres {printed[0]} to {printed[-1]} are in contact",
            printed=f"{printed[0]} to {printed[-1]}",
            computed=f"{', '.join(map(str, found)) or 'none'} ({SOFT})",
            holds=[set(printed) <= set(found), set(found) <= set(printed)],
            reason="the printed spheres are in contact, and others too; another walker, and a sole at the height that fits the "
            "force best",
        )
    started = np.flatnonzero((e.stance > -0.1) & np.any([f > 0.0 for f in own.pressed.values()], axis=0))
    first = e.in_contact(own, float(e.stance[started[0]]))
    claims.check(
        "Fig. 9b",
        "the heel is the first part to touch the ground",
        computed=f"sphere {', '.join(map(str, first))} ({SOFT})",
        holds=set(first) <= {1, 2, 3},
    )
    swing = (e.stance > 1.15) & (e.gait.t < e.gait.cycle.next_strike - 0.02)
    heights = {
        "at the height that fits the force": own,
        "at the height that bears the standing body": e.walked[SOFT, "standing"],
    }
    left = {name: float(np.abs(walked.force[swing]).max()) for name, walked in heights.items()}
    claims.check(
        "Fig. 9a",
        "swing: no contact between foot and ground, no reaction force",
        computed=f"largest force {', '.join(f'{value:.3f} body weights {name}' for name, value in left.items())} ({SOFT})",
        holds=[value < ALIKE for value in left.values()],
        reason="depends on the height of the sole, which is not printed: the sole hangs below the walker's foot by as much as it "
        "gives way under the body, and touches the ground in swing",
    )


def _part(e: GroundRuns, values: Floats, part: str) -> float:
    """Largest force in a part of stance; of mid stance the mean."""
    begin, end = PARTS[part]
    inside = (e.stance >= begin) & (e.stance <= end)
    return float(values[inside].mean() if part == "mid stance" else values[inside].max())


def shapes(claims: Claims, e: GroundRuns) -> None:
    """Fig. 10."""
    weight = e.gait.subject.mass * GRAVITY
    forces = {(reading, shape): walked.force for (reading, shape), walked in e.walked.items()}
    forces |= {("fitted", shape): found.force[:, 2] / weight for shape, found in e.fitted_shapes.items()}
    soles = (SOFT, "fitted")
    changed = {
        sole: {part: _part(e, forces[sole, "cavus"], part) - _part(e, forces[sole, "normal"], part) for part in PARTS}
        for sole in soles
    }
    shown = "; ".join(f"{sole}: {listed(list(by.values()), '+.3f')}" for sole, by in changed.items())
    for parts, words, sign in (
        (("heel contact", "toe off"), "higher at heel contact and toe off", 1),
        (("mid stance",), "lower in mid stance", -1),
    ):
        claims.check(
            "Fig. 10a",
            f"cavus foot: the vertical force is {words}",
            computed=f"change at heel contact, in mid stance and at toe off, {shown} body weights",
            holds=[sign * changed[sole][part] > ALIKE for sole in soles for part in parts],
            reason=CHANGE,
        )
    humps = {sole: len(find_peaks(_in_stance(e, forces[sole, "flat"]), prominence=0.05)[0]) for sole in soles}
    normal = {sole: len(find_peaks(_in_stance(e, forces[sole, "normal"]), prominence=0.05)[0]) for sole in soles}
    claims.check(
        "Fig. 10b",
        "flat foot: the force tends to the shape of a Hertz contact, with one maximum",
        computed="maxima of the flat and of the normal foot: "
        + ", ".join(f"{s} {humps[s]} and {normal[s]}" for s in soles),
        holds=[humps[sole] == 1 for sole in soles],
        reason="with the arch lowered by 10 mm the force of mid stance rises, but the force keeps its maxima",
    )


def _in_stance(e: GroundRuns, values: Floats) -> Floats:
    """Values within stance, with a zero on both sides."""
    inside = (e.stance >= 0.0) & (e.stance <= 1.0)
    return np.concatenate([[0.0], values[inside], [0.0]])


def use(claims: Claims, e: GroundRuns) -> None:
    """Section of the conclusions, and the centre of pressure."""
    walked, length = e.walked[SOFT, "normal"], e.gait.subject.foot_length
    measured = e.gait.ground_at(e.gait.t)[1]
    loaded = (e.stance >= 0.0) & (e.stance <= 1.0)
    paths = {
        "predicted": walked.cop[loaded & (walked.force > LOADED), 0],
        "measured": measured[loaded & (e.measured > LOADED), 0],
    }
    shares = {name: float(np.ptp(path)) / length for name, path in paths.items()}
    claims.check(
        "text",
        "the path of the centre of pressure quantifies the length of the foot",
        computed=f"length of the path by length of the foot: {', '.join(f'{s:.2f} {name}' for name, s in shares.items())}",
        holds=[abs(share - 1.0) < 0.1 for share in shares.values()],
        reason="the path ends between heel and toes: it is shorter than the foot",
    )
    exact = synthetic.exact(e.gait.t)["talocrural", "moment"]
    effort = e.fitted.motion.degrees_of_freedom["ankle.a_j"].effort
    inside = (e.stance >= 0.0) & (e.stance <= 1.0)
    off = float(np.sqrt(np.mean((effort - exact)[inside] ** 2)) / np.abs(exact).max())
    claims.check(
        "Conclusions",
        "the model could make force platforms dispensable",
        computed=f"with the sole fitted to the same trial the force is off by {e.fitted.errors().vertical:.2f} body weights and "
        f"the talocrural moment by {100 * off:.0f} % of its peak (root mean square)",
        holds=[e.fitted.errors().vertical <= GOOD, off <= 0.1],
        reason="the fit itself needs a force platform; see python -m benchmarks contact for adults that no sole has seen",
    )
