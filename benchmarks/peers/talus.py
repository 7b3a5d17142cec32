"""Talus as one of the programs: by its whole-model kernel, or by the code that serves every model."""

from __future__ import annotations

import math
import time
from importlib import metadata

import numpy as np

import models
from benchmarks.joint_coordinates import joint_evaluation, joint_run, row_length
from benchmarks.measure import BODY, BenchmarkError, Floats, compiled_run, evaluated, evaluation_time, make_kernels
from benchmarks.peers.interface import JOINTS, Body, Chain, Foot, PeerError, Stop, least
from benchmarks.peers.records import GENERAL, IN_JOINTS, OWN, Cases, ChainCost, Peer, Ready
from runtime import System
from runtime.dynamics.limits_along import LimitAlong
from runtime.integrate.tree_method import tree_of

MAX_WHOLE_LINKS = 10  # links up to which the benchmark compiles a whole-model kernel


def foot_of(system: System) -> Foot:
    """The foot as data for other programs, in its neutral pose."""
    r, ankle = system.state.r, system.joint("ankle")

    def body(name: str) -> Body:
        data = system.body(name)
        return Body(float(data.mass), np.diag(data.inertia).tolist(), r[name].tolist())

    def stop(one: LimitAlong, k: int) -> Stop:
        # Of a turn of the hinge's angle, sign q + offset: the offset of a limit that is measured from the neutral pose is 0.
        below, above = sorted((one.sign * one.edge[0], -one.sign * one.edge[1]))
        return Stop(one.step, below, above, float(limits.max_moment[k]), float(limits.compliance[k]))

    limits = system.data.limits
    stops = [stop(one, k) for k, one in enumerate(tree_of(system).limits)]
    of = ankle.values
    return Foot(
        np.asarray(system.gravity, float).tolist(), body(BODY), body("toes"), (r[ankle.body_j] + of["s_j"]).tolist(),
        np.asarray(of["a_j"], float).tolist(), (r[BODY] + of["s_i"]).tolist(), np.asarray(of["a_i"], float).tolist(), stops,
    )  # fmt: skip


def chain_of(links: int) -> Chain:
    """A chain as data for other programs."""
    one = models.chain.build(1)
    body = one.body("link_1")
    return Chain(
        links, 2.0 * float(one.state.r["link_1"][0]), float(body.mass), np.diag(body.inertia).tolist(),
        np.asarray(one.gravity, float).tolist(),
    )  # fmt: skip


def talus(system: System, cases: Cases, *, whole: bool) -> Peer:
    """Talus by the whole-model kernel or by the general evaluation."""
    end, width = cases.duration, len(system.state.y)

    def prepare(tolerance: float) -> Ready:
        run, evaluations = compiled_run(system, end, tolerance, whole=whole)

        def motion() -> tuple[Floats, Floats]:
            times = np.linspace(0.0, end, cases.outputs)
            states = np.empty((len(times), width))
            compiled_run(system, end, tolerance, times, states=states, whole=whole)
            first = 13 * list(system.body_names).index(BODY)
            return times, states[:, first : first + 3]

        return Ready(lambda: least(run), motion, evaluations)

    return Peer(
        OWN if whole else GENERAL, metadata.version("talus-multibody"), "DOP853", JOINTS, "tolerance",
        ladder=[10.0 ** (-k / 20) for k in range(80, 261)], shown=[10.0**-k for k in range(5, 14)], prepare=prepare,
        evaluation=lambda repeats: evaluation_time(system, repeats, whole=whole),
        chain=lambda of, repeats: _chain(of, repeats, whole), max_links=MAX_WHOLE_LINKS if whole else math.inf,
        reason="its whole-model kernel would take too long to compile" if whole else None,
    )  # fmt: skip


def in_joint_coordinates(system: System, cases: Cases) -> Peer:
    """Talus in the coordinates of the joints: the foot by its kernel, chains by recursion."""
    end, row = cases.duration, row_length(system)

    def prepare(tolerance: float) -> Ready:
        run, evaluations = joint_run(system, end, tolerance)

        def motion() -> tuple[Floats, Floats]:
            times = np.linspace(0.0, end, cases.outputs)
            states = np.empty((len(times), row))
            joint_run(system, end, tolerance, times[1:], states[1:])
            states[0, : len(system.state.y)] = system.state.y
            first = 13 * list(system.body_names).index(BODY)
            return times, states[:, first : first + 3]

        return Ready(lambda: least(run), motion, evaluations)

    def chain(of: Chain, repeats: int) -> ChainCost:
        begin = time.perf_counter()
        built = models.chain.build(of.links)
        building = time.perf_counter() - begin
        took, alpha = joint_evaluation(built, repeats)
        return ChainCost(took, alpha[:, 1], building)

    return Peer(
        IN_JOINTS, metadata.version("talus-multibody"), "DOP853", JOINTS, "tolerance",
        ladder=[10.0 ** (-k / 20) for k in range(80, 261)], shown=[10.0**-k for k in range(5, 14)], prepare=prepare,
        evaluation=lambda repeats: joint_evaluation(system, repeats)[0], chain=chain,
    )  # fmt: skip


def _chain(of: Chain, repeats: int, whole: bool) -> ChainCost:
    """Cost of a chain.

    Raises
    ------
    PeerError
    """
    if whole:
        _compile_chain(of.links)
    begin = time.perf_counter()
    built = models.chain.build(of.links)
    building = time.perf_counter() - begin
    try:
        _, y_dot = evaluated(built, whole=whole)
    except BenchmarkError as error:
        raise PeerError(str(error)) from None
    return ChainCost(evaluation_time(built, repeats, whole=whole), y_dot.reshape(-1, 13)[:, 11], building)


def _compile_chain(links: int) -> None:
    """Generate the whole-model kernel of a chain.

    Raises
    ------
    PeerError
    """
    try:
        make_kernels(f"import codegen, models; codegen.compile_model(models.chain.build({links}))")
    except BenchmarkError as error:
        raise PeerError(str(error)) from None
