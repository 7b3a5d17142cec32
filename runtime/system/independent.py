"""Independent coordinates of a tree whose closed loops and couplings restrain it: all rates follow from these.

    G(q) u = 0,   u = N u_i,   u' = N u_i' + drift

with the rows G of the joints that close loops and of couplings.  The dependent rates follow from all rows by least squares, also
from redundant ones.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from functools import cached_property

import numpy as np
from scipy.linalg import qr

from runtime.dynamics import mechanics
from runtime.dynamics.equations import workspace_for
from runtime.dynamics.model_data import Workspace
from runtime.lanes.effort_slopes import Directions, EffortLanes, directions_of, effort_lanes
from runtime.support.arrays import Floats, Ints
from runtime.support.errors import ModelError, unknown_name
from runtime.system.coupled_coordinates import tree_with_rows
from runtime.system.spanning_tree import TreeSteps
from runtime.system.system import System
from runtime.system.tree_coordinates import moved_coordinates

FOLLOWER = 1e6  # weight of the columns of followers: they are dependent before their leaders are
DEPENDENT = 1e-9  # singular value, as a fraction of the largest, below which rows or columns depend on each other
OFF = 1e-8  # largest violation of a row, in its unit
STEPS = 50  # of Newton's method


class TreeWorkspaces(threading.local):
    """Workspaces of each thread for evaluations of a tree, with the rows (joint, row) of a system that restrain it."""

    def __init__(self, system: System, rows: list[tuple[int, int]]) -> None:
        self.system, self.tree = system, tree_with_rows(system, rows)

    @cached_property
    def work(self) -> Workspace:
        """For forces, and for the rows."""
        return workspace_for(self.system.data, tree=self.tree)

    @cached_property
    def slopes(self) -> tuple[EffortLanes, Directions]:
        """For derivatives of efforts."""
        return effort_lanes(self.tree), directions_of(self.tree.data)


def rows_of_tree(system: System, work: Workspace, times: Floats, z: Floats) -> tuple[Floats, Floats, Floats]:
    """Phi (states, rows), G (states, rows, rates) and gamma (states, rows) at times and states z (states, n) of a tree."""
    rows, rates = len(work.tree.closing.joint), len(work.tree.Q)
    Phi, G, gamma = np.zeros((len(z), rows)), np.zeros((len(z), rows, rates)), np.zeros((len(z), rows))
    mechanics.rows_along(times, z, np.zeros(z.shape[1]), system.data, work, Phi, G, gamma)
    return Phi, G, gamma


def onto_rows(
    x: Floats, rows: Callable[[Floats], tuple[Floats, Floats]], step: Callable[[Floats, Floats, Floats], Floats]
) -> tuple[Floats, Floats]:
    """Newton's iteration onto rows: the coordinates with the smallest violation found, and this violation (states,).

    rows : returns Phi (states, rows) and G (states, rows, rates) at coordinates
    step : returns the next coordinates, from those before, Phi and G
    """
    kept, least = x, np.full(len(x), np.inf)
    for _ in range(STEPS):
        Phi, G = rows(x)
        off = np.abs(Phi).max(axis=1, initial=0.0)
        if ((off >= 0.5 * least) & (least <= OFF)).all():
            break
        kept, least = np.where((off < least)[:, None], x, kept), np.minimum(off, least)
        x = step(x, Phi, G)
    return kept.copy(), least


class Independent:
    """The rows of a system, and which of all rates are independent: ``places`` among them.

    signs : (coordinates,), (rates,) of the joints' coordinates against those of the tree
    """

    def __init__(
        self, system: System, tree: TreeSteps, workspaces: TreeWorkspaces, signs: tuple[Floats, Floats], rates: Sequence[str],
        q: Floats, wanted: Sequence[str] | None,
    ) -> None:  # fmt: skip
        self.system, self.tree, self.workspaces, self.signs, self.rates = system, tree, workspaces, signs, rates
        self.first = len(signs[0])
        _, G, _ = self._rows(self._at_rest(q[None]))
        count = len(rates) - system.degrees_of_freedom
        if system.drivers:  # which do not restrain these coordinates
            count = int(np.linalg.matrix_rank(G[0], tol=DEPENDENT * np.linalg.norm(G[0], 2))) if G[0].size else 0
        free = len(rates) - count
        self.places = self._best(G[0], count) if wanted is None else self._wanted(wanted, free)
        self.dependent = np.setdiff1d(np.arange(len(rates)), self.places)
        self.maps(q[None], None)

    def _best(self, G: Floats, count: int) -> Ints:
        """The rates that are left beside as many dependent ones as are determined best."""
        weight, coupled = np.ones(len(self.rates)), self.workspaces.tree.closing.coupled
        weight[coupled.u[coupled.first[:-1]] - self.first] = FOLLOWER
        size = np.linalg.norm(G, axis=1, keepdims=True)
        _, order = qr(G / np.where(size > 0.0, size, 1.0) * weight, mode="r", pivoting=True)
        return np.sort(order[count:]).astype(np.int64)

    def _wanted(self, wanted: Sequence[str], count: int) -> Ints:
        known = [name.removesuffix("_rate") for name in self.rates]
        whose = f"mechanics of system '{self.system.name}': "
        for name in wanted:
            if name not in known:
                raise unknown_name(name, known, "coordinate", whose=whose)
            if list(wanted).count(name) > 1:
                raise ModelError(f"{whose}independent: '{name}' is named twice; name it once")
        if len(wanted) != count:
            names, degrees = ("name" + "s" * (len(wanted) != 1)), ("degree" if count == 1 else "degrees")
            raise ModelError(
                f"{whose}independent has {len(wanted)} {names}, and the system {count} {degrees} of freedom; give {count} of "
                f"{', '.join(known)}"
            )
        return np.sort([known.index(name) for name in wanted]).astype(np.int64)

    def maps(self, q: Floats, u: Floats | None) -> tuple[Floats, Floats, Floats]:
        """N (states, rates, independent), all rates and drift (states, rates) of the tree, for independent rates u.

        Raises
        ------
        ModelError
            For coordinates off the rows, and where the independent ones do not determine the others.
        """
        z, places = self._at_rest(q), self.places
        Phi, G, _ = self._rows(z)
        off = np.abs(Phi)
        if Phi.size and not off.max() <= OFF:
            state, row = (int(at) for at in np.unravel_index(int(off.argmax()), off.shape))
            raise ModelError(
                f"mechanics of system '{self.system.name}': state {state}: the coordinates violate {self._name(row)} by "
                f"{off.max():.1e}, limit {OFF:.0e}; pass them through assemble()"
            )
        solve = self._inverses(G)
        N = np.zeros((len(z), len(self.rates), len(places)))
        N[:, places, np.arange(len(places))] = 1.0
        N[:, self.dependent] = -solve @ G[:, :, places]
        N *= self.signs[1][places]
        drift = np.zeros((len(z), len(self.rates)))
        if u is None:
            return N, drift.copy(), drift
        z[:, self.first :] = (N @ u[..., None])[..., 0]
        drift[:, self.dependent] = (solve @ self._rows(z)[2][..., None])[..., 0]
        return N, z[:, self.first :], drift

    def closed(self, q: Floats) -> Floats:
        """Coordinates (states, n) with the dependent ones moved onto the rows."""

        def step(q: Floats, Phi: Floats, G: Floats) -> Floats:
            way = np.zeros((len(q), len(self.rates)))
            way[:, self.dependent] = -(self._inverses(G) @ Phi[..., None])[..., 0]
            return moved_coordinates(self.tree, q, way * self.signs[1])

        kept, least = onto_rows(q, lambda q: self._rows(self._at_rest(q))[:2], step)
        if not (least <= OFF).all():
            state, (Phi, _, _) = int(least.argmax()), self._rows(self._at_rest(kept))
            raise ModelError(
                f"mechanics of system '{self.system.name}': state {state}: no configuration nearby closes the loops; "
                f"{self._name(int(np.abs(Phi[state]).argmax()))} is left {least[state]:.1e} off, limit {OFF:.0e}; "
                "give coordinates nearer to those of a run or of q0"
            )
        return kept

    def _inverses(self, G: Floats) -> Floats:
        """Least-squares inverses (states, dependent, rows) of the columns of the dependent rates."""
        own = G[:, :, self.dependent]
        if not len(self.dependent):
            return np.zeros((len(G), 0, G.shape[1]))
        U, sizes, V = np.linalg.svd(own, full_matrices=False)
        singular = ~(sizes[:, -1] > DEPENDENT * sizes[:, 0]) | (sizes.shape[1] < own.shape[2])
        if singular.any():
            names = ", ".join(self.rates[k].removesuffix("_rate") for k in self.places)
            raise ModelError(
                f"mechanics of system '{self.system.name}': state {int(np.argmax(singular))}: the independent coordinates "
                f"{names or '(none)'} do not determine the others there; name others with independent="
            )
        return np.swapaxes(V, 1, 2) @ (np.swapaxes(U, 1, 2) / sizes[..., None])

    def _at_rest(self, q: Floats) -> Floats:
        z = np.zeros((len(q), self.first + len(self.rates)))
        z[:, : self.first] = q * self.signs[0]
        return z

    def _rows(self, z: Floats) -> tuple[Floats, Floats, Floats]:
        """Phi, G and gamma of states z of the tree."""
        return rows_of_tree(self.system, self.workspaces.work, np.full(len(z), self.system.time), z)

    def _name(self, row: int) -> str:
        closing = self.workspaces.tree.closing
        return self.system.row_name(int(closing.joint[row]), int(closing.row[row]))
