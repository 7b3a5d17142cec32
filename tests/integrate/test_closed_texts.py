"""The functions of trees with rows for one lane, as text, against the code of lanes."""

import numpy as np
import pytest

import codegen
import models
from benchmarks.ensemble_systems import driven_leg, driven_leg_on_plane
from runtime.dynamics.layout import LANES
from runtime.integrate.batches.contact_memory import ACTS, RUBS, places_of_contacts
from runtime.integrate.tree_method import module_of_tree
from runtime.integrate.written.closed_rows import closed_rows
from runtime.integrate.written.closed_stages import AXES, addresses_of_closed, texts_of_closed
from runtime.integrate.written.force_parameters import parameters_of_forces
from runtime.system.tree_coordinates import joint_coordinates
from tests.support.lane_forces import call, run_text


def same(system, signals, parameters):
    """Both give the same numbers near the state of a system, with all rows that it has marked."""
    module, random = module_of_tree(system), np.random.default_rng(4)
    rows, addresses, texts = (
        closed_rows(system, module),
        addresses_of_closed(system, module),
        texts_of_closed(system, module),
    )
    z = joint_coordinates(system.tree, system.body_names, system.joint_motions, system.state.y[None])[0]
    y, constants = np.ones((rows.size, LANES)), np.zeros((rows.of_case, LANES))
    y[: len(z)] = z[:, None] + 1e-2 * random.standard_normal((len(z), LANES))
    module.prepare(np.repeat(system.closed_tree.parameters[:, None], LANES, axis=1), constants)
    constants[rows.forces : rows.lacking] = random.uniform(-1.0, 1.0, (rows.lacking - rows.forces, LANES))
    sizes = {
        "derivative": (rows.size, 1), "correction": (rows.work + rows.marks, 2),
        "forces": (rows.rates + 3 * rows.signals, 1, 1),
    }  # fmt: skip
    for name, text in texts.items():
        given = [y, signals, parameters] if name == "forces" else [y, constants.copy()]
        found = [[np.zeros((size, LANES)) for size in sizes[name]] for _ in range(2)]
        call(getattr(addresses, name), [*given, *found[0]])
        own = [*given[:1], given[1].copy(), *given[2:]]
        run_text(text, name, AXES[name], [*own, *found[1]])
        for of_text, of_lanes in zip([*own, *found[1]], [*given, *found[0]], strict=True):
            assert of_text == pytest.approx(of_lanes, rel=1e-10, abs=1e-11 * np.abs(of_lanes).max(initial=1.0))


def test_a_loop_with_dependent_rows():
    same(models.four_bar.build("revolute", crank_speed=1.0), np.zeros((0, LANES)), np.zeros((0, LANES)))


@pytest.mark.parametrize("build", [driven_leg, driven_leg_on_plane])
def test_drivers_with_a_spring_and_contacts(build):
    system = build()
    codegen.compile_model(system)
    count, places = len(system.data.signals.start) - 1, places_of_contacts(system)[0]
    signals = np.random.default_rng(2).uniform(-1.0, 1.0, (3 * count, LANES))
    parameters = np.repeat(parameters_of_forces(system)[:, None], LANES, axis=1)
    parameters[places[:, [ACTS, RUBS]], ::2] = 1.0  # in every other lane
    same(system, signals, parameters)
