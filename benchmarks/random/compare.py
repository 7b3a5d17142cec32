"""A run of Talus against the second method, and the verdict."""

from __future__ import annotations

import traceback
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any

import numpy as np

import runtime
from benchmarks.random.mechanism import Floats, Mechanism
from benchmarks.random.model import system_of
from benchmarks.random.planar import log_uniform
from benchmarks.random.second import Second, rotations
from runtime import ModelError

RIGHT = 1e-6  # largest error of a right motion, as a fraction of the size (of 1 for rotation matrices)
AGREED = 1e-7  # largest difference of the second method at two tolerances where it counts
ROWS = 1e-9  # largest violation of a row, as a fraction of the size (or of its square)
ENERGY = 1e-7  # largest change of the energy, as a fraction of its range
MAX_STEPS = 20_000
# An error, violation or change of energy above that of a right motion is amplified by the motion where at FINER times the
# tolerance the motion is right and it falls below FOLLOWS times itself; of tolerances above FINEST.
FINEST, FINER, FOLLOWS = 1e-12, 1e-2, 0.1
MEASURES = {"wrong": "largest error", "drift": "violation", "energy": "drift"}  # facts that decide on a kind
# Of a brief comparison: share of the duration, times, and tolerances, the coarse one first.
BRIEF, BRIEF_OUTPUTS, BRIEF_TOLERANCES = 0.25, 5, (1e-9, 1e-11)


@dataclass
class Verdict:
    """What happened.

    ``kind`` is "right", "amplified" (an error above that of a right motion, which follows the tolerance), "wrong", "ended",
    "refused", "raised", "drift", "rates", "energy" or "no reference".
    """

    name: str
    seed: int
    kind: str
    text: str = ""
    error: float = np.nan
    status: int = 0
    compared: int = 0  # times at which the second method agrees with itself
    seconds: tuple[float, ...] = ()
    facts: dict[str, Any] = field(default_factory=dict)


def set_going(m: Mechanism, random: np.random.Generator, second: Second) -> None:
    """Give the mechanism admissible velocities, a duration, a method and a tolerance."""
    g = float(np.linalg.norm(m.gravity))
    pace = np.sqrt(g / m.size)
    speed = 0.0 if random.random() < 0.15 and pace > 0 else log_uniform(random, 0.2, 20.0)
    if m.exact is not None:
        rate = speed * float(random.choice([-1, 1]))
        v, w = m.exact.velocities(rate if getattr(m.exact, "start_rate", None) is None else m.exact.start_rate)
    else:
        v, w = second.admissible(second.start(), random.standard_normal(6 * second.n))
        largest = max(np.abs(v).max() / m.size, np.abs(w).max())
        factor = speed / largest if largest > 1e-9 else 0.0
        v, w = v * factor, w * factor
    for k, b in enumerate(m.bodies.values()):
        b.v, b.w = v[k].copy(), w[k].copy()
    if any(j.signal is not None for j in m.joints):
        v, w = second.admissible(second.start(), np.zeros(6 * second.n))
        for k, b in enumerate(m.bodies.values()):
            b.v, b.w = v[k].copy(), w[k].copy()
    m.t_end = m.share * float(random.uniform(3.0, 10.0) / max(speed, pace, 0.3))
    draw = random.random()
    m.method = "radau" if draw < 0.15 else "dop853"
    m.rtol = 1e-11 if draw < 0.6 or m.method == "radau" else float(random.choice([1e-9, 1e-10, 1e-12, 1e-13]))


def errors(m: Mechanism, r: Floats, A: Floats, r_2: Floats, A_2: Floats) -> Floats:
    """Largest error of positions (of the size) and rotation matrices at each time (n,)."""
    positions = np.abs(r - r_2).max(axis=(1, 2)) / m.size
    worst: Floats = np.maximum(positions, np.abs(A - A_2).max(axis=(1, 2, 3)))
    return worst


def poses(states: Floats) -> tuple[Floats, Floats]:
    """Positions (t, n, 3) and rotation matrices (t, n, 3, 3) of states (t, 13 n)."""
    s = states.reshape(len(states), -1, 13)
    return s[:, :, :3], np.array([rotations(one[:, 3:7]) for one in s])


def reference(
    m: Mechanism, second: Second, times: Floats, agrees: Callable[[Floats, Floats], bool] | None = None
) -> tuple[Floats, Floats, Floats]:
    """Positions, rotation matrices and disagreement (n,) of the second method at two tolerances; fewer times if it is lost.

    ``agrees``: of positions and rotation matrices; where it holds, the second tolerance is left out.
    """
    if m.exact is not None:
        b = next(iter(m.bodies.values()))
        rate = float(b.w @ m.exact.plane.normal)
        r, A, _ = m.exact.poses(times, rate)
        return r, A, getattr(m.exact, "apart", np.zeros(len(r)))
    speed = np.array([m.size] * 3 + [1.0] * 4 + [0.0] * 6)
    rate = 1.0 / m.t_end * 10
    speed[7:10], speed[10:] = rate * m.size, rate
    scale = np.tile(speed, second.n)
    r, A = poses(second.motion(times, m.tolerances[0], scale))
    if agrees is not None and agrees(r, A):
        return r, A, np.zeros(len(r))
    r_2, A_2 = poses(second.motion(times, m.tolerances[1], scale))
    n = min(len(r), len(r_2))
    apart = errors(m, r[:n], A[:n], r_2[:n], A_2[:n])
    finer = (r, A) if m.tolerances[0] < m.tolerances[1] else (r_2, A_2)
    return finer[0][:n], finer[1][:n], np.maximum.accumulate(apart)


def energy(m: Mechanism, run: Any) -> tuple[Floats, float]:
    """Total energy (n,) and the range of its parts."""
    T, V = np.zeros(len(run.t)), np.zeros(len(run.t))
    for b in m.bodies.values():
        A = rotations(run.p[b.name])
        w = np.einsum("nba,nb->na", A, run.omega[b.name])
        T += 0.5 * b.mass * (run.v[b.name] ** 2).sum(axis=1) + 0.5 * np.einsum("na,ab,nb->n", w, b.J, w)
        V -= b.mass * (run.r[b.name] - b.r) @ m.gravity
    # Of a motion that can be seen: one body may be fixed.
    least = sum(b.mass for b in m.bodies.values()) * max(
        1e-6 * (m.size / m.t_end) ** 2, 1e-5 * float(np.linalg.norm(m.gravity)) * m.size
    )
    return T + V, float(max(np.ptp(V), np.abs(T).max(), least))


def rates(m: Mechanism, run: Any, count: int) -> tuple[float, float]:
    """Largest errors of the speed and the acceleration of the first body of an exact motion, of their largest values."""
    if not hasattr(m.exact, "motion") or count < 2:
        return 0.0, 0.0
    name, b = next(iter(m.bodies.items()))
    n = m.exact.plane.normal
    states = m.exact.poses(run.t[:count], float(b.w @ n))[2]
    exact = np.array([m.exact.motion.derivative(t, y) for t, y in zip(run.t, states, strict=False)])
    try:
        acceleration = run.omega_dot[name] @ n
    except ModelError:  # undetermined, says Talus
        acceleration = exact[:, 1]
    found = np.array([run.omega[name][:count] @ n, acceleration[:count]]).T
    apart = np.abs(found - exact).max(axis=0) / np.maximum(np.abs(exact).max(axis=0), [1 / m.t_end, 1 / m.t_end**2])
    return float(apart[0]), float(apart[1])


def examine(name: str, seed: int, make: Any, *, brief: bool = False, **override: Any) -> Verdict:
    """Make a mechanism, run it by both methods, and judge; ``brief``: a shorter motion, and one tolerance where that suffices."""
    random = np.random.default_rng([seed, *name.encode()])
    try:
        m = make(random)
        second = Second(m)
        if brief:
            m.share, m.outputs, m.tolerances = min(m.share, BRIEF), BRIEF_OUTPUTS, BRIEF_TOLERANCES
        freedoms = second.freedoms()
        set_going(m, random, second)
    except np.linalg.LinAlgError as error:
        return Verdict(name, seed, "no reference", str(error))
    for key, value in override.items():
        setattr(m, key, value)
    verdict = Verdict(
        name,
        seed,
        "right",
        facts={
            "freedoms": freedoms,
            "method": m.method,
            "rtol": m.rtol,
            "t_end": m.t_end,
            "note": m.note,
            "bodies": second.n,
        },
    )
    times = np.linspace(0.0, m.t_end, m.outputs)
    if hasattr(m.exact, "special_times"):
        times = np.unique(np.concatenate([times, m.exact.special_times(m, times)]))
    run = _run(verdict, m, times)
    if run is None:
        return verdict
    begin = perf_counter()
    try:
        found = reference(m, second, times[: max(len(run.t), 2)], _agreement(m, run) if brief else None)
    except np.linalg.LinAlgError as error:
        found = np.zeros((0, second.n, 3)), np.zeros((0, second.n, 3, 3)), np.zeros(0)
        verdict.text = f"{error}; "
    verdict.seconds = *verdict.seconds, perf_counter() - begin
    verdict.facts["evaluations of the second"] = second.evaluations
    judge(verdict, m, run, found)
    if verdict.kind in MEASURES and m.rtol > FINEST and "rtol" not in override:
        finer = examine(name, seed, make, brief=brief, rtol=FINER * m.rtol, **override)
        measure = MEASURES[verdict.kind]
        if finer.kind == "right" and finer.facts[measure] < FOLLOWS * verdict.facts[measure]:
            verdict.kind = "amplified"
    return verdict


def _run(verdict: Verdict, m: Mechanism, times: Floats) -> Any:
    """The run of Talus; None where it refuses or raises, as the verdict then says."""
    begin = perf_counter()
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            system = system_of(m, f"{verdict.name}_{verdict.seed}")
            run = runtime.simulate(
                system, m.t_end, t_eval=times, method=m.method, rtol=m.rtol, atol=m.rtol, progress=False,
                **({"max_steps": MAX_STEPS} | m.options),
            )  # fmt: skip
    except ModelError as error:
        verdict.kind, verdict.text = "refused", str(error)
        return None
    except Exception as error:  # any other error of Talus is an answer
        verdict.kind, verdict.text = "raised", f"{type(error).__name__}: {error}\n{traceback.format_exc()}"
        return None
    verdict.seconds = (perf_counter() - begin,)
    verdict.facts |= {
        "steps": run.stats.steps, "run": run, "system": system, "m": m, "dof": system.degrees_of_freedom,
        "warnings": [str(w.message) for w in caught],
    }  # fmt: skip
    return run


def _agreement(m: Mechanism, run: Any) -> Callable[[Floats, Floats], bool]:
    """Whether a run agrees with positions and rotation matrices of the second method at all of its times."""
    mine, turns = motion_of(m, run)

    def agrees(r: Floats, A: Floats) -> bool:
        n = min(len(r), len(run.t))
        return len(r) >= len(run.t) and bool(errors(m, mine[:n], turns[:n], r[:n], A[:n]).max() <= right_of(m))

    return agrees


def motion_of(m: Mechanism, run: Any) -> tuple[Floats, Floats]:
    """Positions (t, n, 3) and rotation matrices (t, n, 3, 3) of a run."""
    mine = np.array([run.r[b] for b in m.bodies]).transpose(1, 0, 2)
    return mine, np.array([rotations(run.p[b]) for b in m.bodies]).transpose(1, 0, 2, 3)


def right_of(m: Mechanism) -> float:
    """Largest error of a right motion."""
    return max(RIGHT, 1e3 * m.rtol)


def judge(verdict: Verdict, m: Mechanism, run: Any, found: tuple[Floats, Floats, Floats]) -> None:
    """Put kind, error and text into a verdict."""
    r, A, apart = found
    n = min(len(r), len(run.t))
    mine, turns = motion_of(m, run)
    error = errors(m, mine[:n], turns[:n], r[:n], A[:n])
    agreed = apart[:n] <= AGREED
    verdict.compared, verdict.status = int(agreed.sum()), int(run.status)
    verdict.error = float(error[agreed].max()) if agreed.any() else np.nan
    verdict.facts |= {"error": error, "largest error": verdict.error}
    verdict.facts["freedoms agree"] = verdict.facts["freedoms"] == verdict.facts["dof"]
    bound = max(ROWS, (1e2 if m.keeps_energy else 1e3) * m.rtol) * max(m.size, m.size**2, 1.0)
    violation = float(np.max(run.violation, initial=0.0))
    E, span = energy(m, run)
    drift = float(np.abs(E - E[0]).max() / span) if span > 0 and m.keeps_energy else 0.0
    verdict.facts |= {"drift": drift, "violation": violation}
    verdict.text += run.message
    right = right_of(m)
    speed, acceleration = rates(m, run, n)
    verdict.facts |= {"speed": speed, "acceleration": acceleration}
    if verdict.error > right:
        first = float(run.t[:n][agreed & (error > right)][0])
        verdict.kind, verdict.text = (
            "wrong",
            f"error {verdict.error:.1e} of the size, first above at {first:.4g} s; {verdict.text}",
        )
    elif violation > bound:
        verdict.kind, verdict.text = "drift", f"|Phi| {violation:.1e}; {verdict.text}"
    elif speed > 10 * right or acceleration > 1e3 * right:
        verdict.kind, verdict.text = (
            "rates",
            f"speed {speed:.1e}, acceleration {acceleration:.1e} of the largest; {verdict.text}",
        )
    elif run.success and verdict.facts["dof"] and drift > max(ENERGY, 1e3 * m.rtol):
        verdict.kind, verdict.text = "energy", f"energy drifts by {drift:.1e}; {verdict.text}"
    elif not run.success or run.status:
        verdict.kind = "ended"
    elif n < 2 or verdict.compared < 2:
        verdict.kind = "no reference"
