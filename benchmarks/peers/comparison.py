"""Which runs of the programs are made: at each setting, at equal error, and for chains."""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import asdict
from functools import partial
from typing import Any

import numpy as np

from benchmarks.measure import BenchmarkError, Floats, Say, build_folder, exact, foot, reference_error
from benchmarks.peers.interface import Chain, MissingError, PeerError
from benchmarks.peers.process import Process
from benchmarks.peers.records import GENERAL, AtError, Cases, ChainCost, Peer, Ready
from benchmarks.peers.search import Search
from benchmarks.peers.talus import chain_of, foot_of, in_joint_coordinates, talus
from runtime import System
from runtime.integrate.tree_method import tree_of


def open_peers(system: System, cases: Cases, say: Say, stack: ExitStack) -> tuple[list[Peer], dict[str, str]]:
    """All programs, Talus first, until the stack is closed; and those that are not installed, with the reason.

    With joint limits Talus runs in joint coordinates only.
    """
    own = [] if tree_of(system).limits else [talus(system, cases, whole=whole) for whole in (True, False)]
    found, missing = [*own, in_joint_coordinates(system, cases)], {}
    foot_data, build = foot_of(system), build_folder()
    for name in cases.programs:
        process = Process(name, foot_data, cases.duration, cases.outputs, build)
        stack.callback(process.close)
        try:
            facts = process.open()
        except MissingError as error:
            missing[name] = str(error)
            say(f"{name}: {error}")
            continue
        max_links = facts.pop("max_links")
        found.append(
            Peer(
                **facts, prepare=partial(_prepared, process), evaluation=partial(_evaluation, process),
                chain=partial(_chained, process) if max_links else None, max_links=max_links,
            )
        )  # fmt: skip
    return found, missing


def _prepared(process: Process, setting: float) -> Ready:
    def motion() -> tuple[Floats, Floats]:
        times, positions = process.request("motion", setting=setting)
        return np.array(times), np.array(positions)

    return Ready(
        lambda: float(process.request("run", setting=setting)),
        motion,
        lambda: process.request("evaluations", setting=setting),
    )


def _evaluation(process: Process, repeats: int) -> float:
    return float(process.request("evaluation", repeats=repeats))


def _chained(process: Process, chain: Chain, repeats: int) -> ChainCost:
    answer = process.request("chain", chain=asdict(chain), repeats=repeats)
    return ChainCost(**(answer | {"angular_accelerations": np.array(answer["angular_accelerations"])}))


def open_searches(
    system: System, cases: Cases, say: Say, stack: ExitStack
) -> tuple[list[Search], dict[str, str], float]:
    """A search for each program, those that are not installed, and the error of the reference itself [m]; of a foot."""
    programs, missing = open_peers(system, cases, say, stack)
    reference = exact(system, np.linspace(0.0, cases.duration, cases.outputs))
    return [Search(peer, system, cases.timeout) for peer in programs], missing, reference_error(system, reference)


def at_errors(cases: Cases, say: Say) -> tuple[list[AtError], dict[str, str]]:
    """All programs at each error, Talus first; and those that are not installed, with the reason."""
    with ExitStack() as stack:
        searches, missing, _ = open_searches(foot("modified"), cases, say, stack)
        return at_equal_error(searches, cases, say), missing


def setting_rows(search: Search, cases: Cases, say: Say) -> list[list[Any]]:
    """One program at its settings: rows of the table."""
    peer, rows = search.peer, []
    chosen = search.shown(cases.every)
    say(f"{peer.label}, {peer.method}, {peer.version}: {len(chosen)} settings")
    for setting in chosen:
        if math.isfinite(search.error(setting)):
            ready = peer.prepare(setting)
            took = _in_turns({peer.label: ready}, cases.repeats)[peer.label]
            measured = [setting, ready.evaluations(), 1e3 * took, search.error(setting)]
            rows.append([peer.name, peer.input, peer.knob, *measured])
    return rows


def _in_turns(ready: dict[str, Ready], repeats: int, most: float = 3.0) -> dict[str, float]:
    """Least durations [s]; the runs alternate, so that a slow phase of the machine affects all; slow ones run fewer times."""
    times: dict[str, list[float]] = {name: [] for name in ready}
    for _ in range(repeats):
        for name, run in ready.items():
            if sum(times[name]) < most:
                times[name].append(run.seconds())
    return {name: min(values) for name, values in times.items()}


def at_equal_error(searches: Sequence[Search], cases: Cases, say: Say) -> list[AtError]:
    """All programs at each error, timed alternately; first at the error of Talus at the given tolerance, if there is one."""
    found = []
    own_error = [] if cases.tolerance is None else [searches[0].error(cases.tolerance)]
    for allowed in (*own_error, *cases.errors):
        say(f"all programs at an error of {allowed:.1e} m")
        settings = {}
        for search in searches:
            try:
                settings[search.peer.label] = search.coarsest(allowed)
            except BenchmarkError as error:
                say(str(error))
        ready = {
            search.peer.label: search.peer.prepare(settings[search.peer.label])
            for search in searches
            if search.peer.label in settings
        }
        times = _in_turns(ready, cases.repeats)
        own = times.get(searches[0].peer.label)
        for search in searches:
            peer, label = search.peer, search.peer.label
            reached: tuple[Any, ...]
            if label in times:
                error, evaluations = search.error(settings[label]), ready[label].evaluations()
                ratio = None if own is None else own / times[label]
                reached = (settings[label], error, evaluations, times[label], ratio)
            else:
                reached = (None, search.smallest, None, None, None)
            found.append(AtError(allowed, cases.duration, peer, *reached))
    return found


def chain_costs(
    peers: Sequence[Peer], cases: Cases, say: Say
) -> tuple[dict[str, dict[int, tuple[ChainCost, float]]], dict[str, str]]:
    """Cost of a chain and difference from Talus, by label and number of links; and by label why there is no longer chain."""
    references, found, ended = {}, {}, {}
    general = next(peer for peer in peers if peer.name == GENERAL)
    for peer in (general, *(peer for peer in peers if peer is not general)):
        if peer.chain is None:
            continue
        say(f"{peer.label}: chains")
        last = None
        for links in cases.links:
            expected = 0.0 if last is None else last[1] * (links / last[0]) ** 2
            if links > peer.max_links:
                ended[peer.label] = peer.reason or ""
                break
            if expected > cases.building:
                ended[peer.label] = f"building {links} links was expected to take {expected:.0f} s"
                break
            try:
                one = peer.chain(chain_of(links), cases.repeats)
            except PeerError as error:
                ended[peer.label] = str(error)
                break
            reference = references.setdefault(links, one.angular_accelerations)
            difference = float(np.abs(one.angular_accelerations - reference).max() / np.abs(reference).max())
            found.setdefault(peer.label, {})[links] = (one, difference)
            last = (links, one.building)
    return {peer.label: found[peer.label] for peer in peers if peer.label in found}, ended
