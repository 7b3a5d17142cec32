"""States of muscles at the start: those in equilibrium with all bodies at rest."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from runtime.dynamics.force_elements import REPORTS
from runtime.dynamics.layout import V
from runtime.jit.python_code import with_arrays
from runtime.support.arguments import checked
from runtime.support.arrays import Floats
from runtime.support.errors import ModelError, warn
from runtime.system.force_building import look_up_tables
from runtime.system.muscle_modules import DELAYED, reflex_of
from runtime.system.parameters import replace_parameters
from runtime.system.parts import Force
from runtime.system.reference import body_places, reference, states_with_ground
from runtime.system.system import System, with_fields

# Where the rate of a state is sampled: parts of the length of the path or, in another unit, of the largest constant with this
# unit; pure numbers.  Close, as laws have poles beside their zeros.
PLACES = np.append(0.0, np.geomspace(1e-4, 10.0, 10001))
# A kink of the law, such as the isometric force, is located by so many rounds of so many parts, and sampled on both sides.
ROUNDS, SPLIT, BESIDE = 4, 32, 1e-9


@checked
def in_equilibrium(system: System) -> System:
    """Return the system whose muscles begin where the rates of their states are 0, in its initial state with all bodies at rest.

    That is for states whose initial values were not given, in the order of the law.  One that is at rest at the excitation, such
    as the activation, begins as the excitation.  Another one, such as the length of the fibre, is sought upwards from 0, and
    begins at the first place where its rate falls through 0.  An activation without such a place, as that of an excitation below
    the minimum activation, begins as the excitation too, with a warning.

    Raises
    ------
    ModelError
        Naming the muscle and the state for whose rate no such place is found.
    """
    return in_equilibrium_at(system, system.state.y)


def in_equilibrium_at(system: System, y: Floats) -> System:
    """``in_equilibrium`` in a state y (13 bodies,)."""
    states, places = states_with_ground(y), body_places(system.body_names)
    states[:, V:] = 0.0
    starts = {
        f"{state}_0.{force.name}": value
        for force in system.forces if force.settled
        for state, value in _at_rest(force, [states[places[body]] for body in force.bodies], system.time)
    }  # fmt: skip
    if not starts:
        return system
    found = replace_parameters(system, starts)
    forces = (replace(new, settled=old.settled) for new, old in zip(found.forces, system.forces, strict=True))
    return with_fields(found, forces=tuple(forces), _made_of=())


def _at_rest(force: Force, ends: Sequence[Floats], time: float) -> Iterator[tuple[str, float]]:
    """The states of a muscle that are settled, with their values."""
    module, x = force.module, np.zeros(force.module.SIZE)
    reference(force, ends[0], ends[1], x, *ends[2:])
    look_up_tables(force, ends, x)
    signals = {name: module.LOADS_PLACE - 3 * n for n, name in enumerate(reversed(module.SIGNALS), 1)}
    if "excitation" in signals:
        x[signals["excitation"]] = force.signals["excitation"](time)
    first_rate, whole = REPORTS + len(module.OUTPUTS), dict[str, float]()
    places = {name: REPORTS + k for k, (name, _) in enumerate(module.OUTPUTS)}

    def output(kernel: str, k: int, values: Floats | float) -> dict[int, Floats]:
        """Results of a kernel of the muscle with values of its state k."""
        own, out = list(x), dict[int, Floats]()
        own[module.STATES_PLACE + k] = values
        with np.errstate(all="ignore"):
            with_arrays(getattr(module, kernel))(*ends, own, out)
        return out

    length = float(output("evaluate", 0, 1.0)[places["length"]])
    if DELAYED[0] in signals:  # before the start the muscle was at rest
        x[signals[DELAYED[0]]] = length
    excitation = float(output("evaluate", 0, 1.0)[places["excitation"]])
    for part, unit in module.PARAMETERS:
        if not part.endswith("_0"):
            whole[unit] = max(whole.get(unit, 0.0), float(np.abs(force.values[part]).max()))
    whole |= {"m": length, "1": 1.0}
    for k, state in enumerate(module.STATES):
        if state not in force.settled:
            continue
        unit = force.outputs[state]
        at = PLACES * (whole.get(unit) or 1.0)
        if unit == "1":
            at = np.sort(np.append(at, excitation))
        at = _with_kinks(at, partial(output, "kinks", k)) if module.KINKS else at

        def rate(z: Floats | float, k: int = k) -> Floats:
            return output("evaluate", k, z)[first_rate + k]

        rates = np.broadcast_to(rate(at), at.shape)
        beside = rate(excitation - BESIDE), rate(excitation + BESIDE)
        follows = unit == "1" and rate(excitation) == 0.0 and (beside[0] > 0.0 or beside[1] < 0.0)
        start = excitation if follows else _first_fall(rate, at, rates)
        what = f"muscle '{force.name}' ({force.kind})"
        if start is None and state == "activation":
            start = excitation
            if "excitation" in force.values and not reflex_of(force.kind):  # which else would rise
                warn(
                    f"{what}: at the excitation {excitation:g} its activation falls without end, as below a minimum activation; "
                    "it begins as the excitation, give an excitation above the minimum for an equilibrium"
                )
        if start is None:
            most = f"{at[-1]:.4g} {unit}".removesuffix(" 1")
            raise ModelError(
                f"{what}: found no {state} up to {most} at which its rate falls through 0, with a path of {length:.4g} m and "
                f"its excitation of {excitation:.4g}; give {state}_0, or correct the constants"
            )
        x[module.STATES_PLACE + k] = start
        yield state, start


def _with_kinks(at: Floats, kinks: Callable[[Floats], Mapping[int, Floats]]) -> Floats:
    """The places with those beside them where what changes its sign at a kink of the law does so."""
    signs = {i: np.sign(np.broadcast_to(values, at.shape)) for i, values in kinks(at).items()}
    passed = [(i, n) for i, sign in signs.items() for n in np.flatnonzero(sign[:-1] * sign[1:] < 0.0)]
    lower, upper = (at[[n + k for _, n in passed]] for k in range(2))
    for _ in range(ROUNDS if passed else 0):
        closer = lower[:, None] + (upper - lower)[:, None] * np.linspace(0.0, 1.0, SPLIT + 1)
        of = kinks(closer.ravel())
        for row, (i, _) in enumerate(passed):
            sign = np.sign(of[i].reshape(closer.shape)[row])
            first = int(np.argmax(sign != sign[0]))
            lower[row], upper[row] = closer[row, max(first - 1, 0)], closer[row, first]
    return np.unique(np.concatenate([at, lower, upper * (1.0 + BESIDE)]))


def _first_fall(rate: Callable[[float], Floats], at: Floats, rates: Floats) -> float | None:
    """The first place at which a rate falls through 0, and not at a pole, where it is more than beside it."""
    from scipy.optimize import brentq  # only systems with muscles need it

    for n in np.flatnonzero((rates[:-1] >= 0.0) & (rates[1:] < 0.0)):
        z = float(brentq(lambda z: float(rate(z)), at[n], at[n + 1], xtol=1e-16, rtol=1e-15))
        if abs(rate(z)) <= np.abs(rates[n : n + 2]).max():
            return z
    return None
