"""All programs that Talus is compared with, as records without runs."""

import importlib

from benchmarks.peers.interface import JOINTS
from benchmarks.peers.records import GENERAL, IN_JOINTS, OWN, PROGRAMS, Peer


def all_peers():
    """Talus and all programs, installed or not, by name and input."""
    modules = [importlib.import_module(f"benchmarks.peers.programs.{name}") for name in PROGRAMS]
    names = [
        (OWN, JOINTS),
        (GENERAL, JOINTS),
        (IN_JOINTS, JOINTS),
        *((module.NAME, module.INPUT) for module in modules),
    ]
    settings = dict(ladder=[], shown=[], prepare=None, evaluation=None)
    return [Peer(name, "10.10.10", "trapezoidal, index 2", given, "tolerance", **settings) for name, given in names]
