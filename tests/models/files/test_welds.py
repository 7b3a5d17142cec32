"""Welds of MJCF: joints that close loops, against the body that is carried instead."""

import numpy as np
import pytest

import models
from runtime import simulate
from tests.support.refusals import assert_refused

ARM = """<body name="upper" pos="0 0 1"><joint name="a" axis="0 1 0"/><geom type="capsule" fromto="0 0 0 0.4 0 0" size="0.03"/>
 <body name="lower" pos="0.4 0 0"><joint name="b" axis="0 1 0.2"/><geom type="capsule" fromto="0 0 0 0.3 0 0" size="0.02"/>
 {}</body></body>{}"""
LOAD = '<body name="load" pos="{}" quat="{}"><geom type="box" size="0.05 0.04 0.03"/>{}</body>'
TURN = "0.96 0.2 0.1 -0.1"


def read(folder, bodies, equality="", **options):
    text = f"<mujoco><worldbody>{bodies}</worldbody><equality>{equality}</equality></mujoco>"
    (folder / "arm.xml").write_text(text)
    return models.read(folder / "arm.xml", ignore="contacts", **options)


def welded(folder, more="", between='body1="lower" body2="load"'):
    free = LOAD.format("0.75 0 1.05", TURN, "<freejoint/>")
    return read(folder, ARM.format("", free), f'<weld name="hold" {between} {more}/>')


def test_a_welded_body_moves_as_a_carried_one(tmp_path):
    loop = welded(tmp_path).build()
    tree = read(tmp_path, ARM.format(LOAD.format("0.35 0 0.05", TURN, ""), "")).build()
    assert loop.degrees_of_freedom == tree.degrees_of_freedom == 2
    one, two = (simulate(system, 0.5, t_eval=[0.5], rtol=1e-10, atol=1e-10) for system in (loop, tree))
    assert np.abs(one.r["upper"] - two.r["upper"]).max() < 1e-7
    assert np.abs(one.omega["lower"] - two.omega["lower"]).max() < 1e-6


def test_a_body_that_is_welded_to_the_world_stays(tmp_path):
    system = welded(tmp_path, between='body1="load"').build()
    run = simulate(system, 0.3, t_eval=[0.3])
    assert np.abs(run.r["load"][-1] - (0.75, 0.0, 1.05)).max() < 1e-9


@pytest.mark.parametrize("more", ['torquescale="0"', 'relpose="0.4 0 0.05 1 0 0 0"', f'relpose="0.35 0 0.1 {TURN}"'])
def test_other_welds_are_refused(tmp_path, more):
    assert_refused("equalities (hold", welded, tmp_path, more)


def test_a_weld_that_is_switched_off_is_not_read(tmp_path):
    assert welded(tmp_path, 'active="false"').build().degrees_of_freedom == 8
