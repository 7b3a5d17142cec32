"""Addresses of the kernels of forces."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from runtime.jit.addresses import addresses_of
from runtime.support.arrays import Ints
from runtime.system.parts import Force


def force_addresses(forces: Sequence[Force]) -> tuple[Ints, Ints]:
    """Addresses (forces,) in this process of the kernels, and of those that give the arguments of tables, 0 for none."""
    tables = [int(addresses_of([f.module], "lookups_entry")[0]) if f.module.TABLES else 0 for f in forces]
    return addresses_of(f.module for f in forces), np.array(tables, np.int64)
