"""Signals of many cases in one table: cases with equal signals share a set."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from runtime.dynamics.signals import SignalData


class SignalSets(NamedTuple):
    """Sets of equally many signals."""

    signals: SignalData  # set after set
    sets: int


def signal_sets(of_cases: Sequence[SignalData]) -> tuple[SignalSets, list[int]]:
    """The different ones of signals of cases, and the set of each case."""
    known: dict[int, int] = {}  # set by the identity of its data
    different: dict[bytes, int] = {}
    firsts: list[SignalData] = []
    for of in of_cases:
        if id(of) not in known:
            known[id(of)] = place = different.setdefault(b" ".join(part.tobytes() for part in of), len(firsts))
            firsts += [of] if place == len(firsts) else []
    which = [known[id(of)] for of in of_cases]
    if len(firsts) == 1:
        return SignalSets(firsts[0], 1), which
    begins = np.cumsum([0] + [len(of.knot) for of in firsts])
    starts = [of.start[:-1] + begin for of, begin in zip(firsts, begins[:-1], strict=True)]
    signals = SignalData(
        start=np.concatenate([*starts, begins[-1:]]).astype(np.int64),
        knot=np.concatenate([of.knot for of in firsts]),
        coefficient=np.concatenate([of.coefficient for of in firsts]),
        weight=np.concatenate([of.weight for of in firsts]),
        order=np.concatenate([of.order for of in firsts]),
    )
    return SignalSets(signals, len(firsts)), which
