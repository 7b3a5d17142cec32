"""States of muscles at the start: those in equilibrium with all bodies at rest."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from runtime.dynamics.force_elements import REPORTS
from runtime.dynamics.layout import V
from runtime.jit.python_code import with_arrays
from runtime.support.arguments import checked
from runtime.support.arrays import Floats
from runtime.support.errors import ModelError
from runtime.system.force_building import look_up_tables
from runtime.system.muscle_modules import DELAYED
from runtime.system.parameters import replace_parameters
from runtime.system.parts import Force
from runtime.system.reference import body_places, reference, states_with_ground
from runtime.system.system import System, with_fields

# Where the rate of a state is looked at: parts of the length of the path, or pure numbers.
PLACES = np.geomspace(1e-4, 10.0, 10001)  # close, as laws have poles beside their zeros


@checked
def in_equilibrium(system: System) -> System:
    """Return the system whose muscles begin where the rates of their states are 0, in its initial state with all bodies at rest.

    That is for states whose initial values were not given.  The activation begins as the excitation.  Another state, such as the
    length of the fibre, is sought upwards from 0, and begins at the first place where its rate falls through 0.

    Raises
    ------
    ModelError
        Naming the muscle and the state whose rate falls nowhere.
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
    from scipy.optimize import brentq  # only systems with muscles need it

    module, x = force.module, np.zeros(force.module.SIZE)
    reference(force, ends[0], ends[1], x, *ends[2:])
    look_up_tables(force, ends, x)
    signals = {name: module.LOADS_PLACE - 3 * n for n, name in enumerate(reversed(module.SIGNALS), 1)}
    if "excitation" in signals:
        x[signals["excitation"]] = force.signals["excitation"](time)
    places = {name: REPORTS + k for k, (name, _) in enumerate(module.OUTPUTS)}
    evaluate, first_rate = with_arrays(module.evaluate), REPORTS + len(module.OUTPUTS)

    def output(place: int, k: int, values: Floats | float) -> Floats:
        """A result of the muscle with values of its state k."""
        own, out = list(x), dict[int, Floats]()
        own[module.STATES_PLACE + k] = values
        with np.errstate(all="ignore"):
            evaluate(*ends, own, out)
        return out[place]

    length = float(output(places["length"], 0, 1.0))
    if DELAYED[0] in signals:  # before the start the muscle was at rest
        x[signals[DELAYED[0]]] = length
    for k, state in enumerate(module.STATES):
        if state not in force.settled:
            continue
        if state == "activation":
            x[module.STATES_PLACE + k] = start = float(output(places["excitation"], 0, 1.0))
            yield state, start
            continue
        unit, rate = force.outputs[state], first_rate + k
        at = PLACES * (length if unit == "m" else 1.0)
        rates = np.broadcast_to(output(rate, k, at), at.shape)
        found = list[float]()
        for n in np.flatnonzero((rates[:-1] >= 0.0) & (rates[1:] < 0.0)):
            z = brentq(lambda z, k=k, rate=rate: float(output(rate, k, z)), at[n], at[n + 1], xtol=1e-16, rtol=1e-15)
            found += [float(z)] * bool(
                abs(output(rate, k, z)) <= np.abs(rates[n : n + 2]).max()
            )  # at a pole it is more
        if not found:
            raise ModelError(
                f"muscle '{force.name}' ({force.kind}): its rate of {state} falls through 0 nowhere up to {at[-1]:.4g} {unit}, "
                f"with a path of {length:.4g} m; give {state}_0, or correct the constants"
            )
        x[module.STATES_PLACE + k] = found[0]
        yield state, found[0]
