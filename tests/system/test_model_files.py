"""Talus's own file: written and read without loss, and malformed files refused in a sentence."""

import json
import random
import re
import warnings
from dataclasses import replace
from pathlib import Path

import jsonschema
import numpy as np
import pytest

import codegen
import models
import runtime
from benchmarks.mechanisms import model as mechanism
from benchmarks.mechanisms.problem import shipped
from benchmarks.random import question
from benchmarks.random.model import system_of
from models.shipped import SYSTEMS
from models.walking import synthetic
from runtime import AssemblyWarning, Builder, ModelError, Signal, System
from runtime.system import model_description, model_reading
from runtime.system.model_schema import FILE
from tests.support import systems
from tests.support.marks import quick_for
from tests.support.own_laws import HARDENING, LINEAR, LUBRICATED, POWER, ball, rod
from tests.support.refusals import assert_refused
from tests.support.systems import BUILDS, LIMITED
from tests.support.two_bodies import two_guided
from tests.support.written_models import sprung
from tests.system.test_pickling import on_a_pin, pin

MECHANISMS = sorted(file.stem for file in Path(mechanism.__file__).parent.glob("*.json"))
CASES = {f"shipped {name}": build for name, build in SYSTEMS.items()}
CASES |= {f"mechanism {name}": (lambda name=name: mechanism.build(shipped(name))) for name in MECHANISMS}
CASES |= {f"limits, {name}": (lambda own=own: models.foot.build(**own)) for name, own in LIMITED.items()}
CASES |= {f"model {name}": build for name, build in BUILDS.items()}
CASES["drivers that overdetermine the motion"] = lambda: two_guided(overdetermined=True)
CASES["springs along coordinates"] = sprung
CASES["other parameters"] = lambda: runtime.with_parameters(
    models.four_bar.build(), {"mass.coupler": 1.234567891234567}
)
CASES["recorded walk"] = synthetic.build
CASES["motor and loads"] = systems.powered
CASES["contacts and belt"] = lambda: systems.slider("flores", "coulomb", stiffness=1e6, exponent=1.5, restitution=0.6)


def pair():
    """A builder with all that a builder takes: two bodies, a driver, forces with tables and a joint's reaction, shapes."""
    b = Builder("pair", gravity=(0.0, 0.1, -9.7), axes="global")
    b.body("rod", mass=1.5, inertia=(0.02, 0.03, 0.01), r=(0, 0, -0.5))
    b.body("tip", mass=0.7, inertia=(0.002, 0.003, 0.001), r=(0, 0, -1.0), guess=True)
    b.body("ball", mass=0.3, inertia=(0.001, 0.001, 0.001), r=(0.5, 0, 0), free=True)
    b.joint("pivot", "revolute", "ground", "rod", point=(0, 0, 0), axis=(0, 1, 0))
    b.joint("elbow", "revolute", "rod", "tip", point=(0, 0, -0.8), axis=(0, 1, 0.3))
    t = np.linspace(0.0, 2.0, 21)
    b.load("wind", "tip", force=(Signal.spline(t, np.sin(t)), 0.0, 0.2), point=(0, 0, -1.1), attached=True)
    friction = dict(
        coefficient=0.1, radius=0.01, thrust_radius=0.01, spacing=0.05, transition_velocity=1e-2, damping=0.0
    )
    b.force("rub", "journal_friction", "ground", "rod", joint="pivot", **friction)
    curve = ((0, 0), (0.5, 3.0), (1, 9.0))
    b.force(
        "pull", "tabulated_spring", "rod", "ball", s_i=(0, 0, -0.4), s_j=(0.5, 0, 0), tension_table=curve, damping=0.1
    )
    b.shape("rod", "capsule", start=(0, 0, 0), end=(0, 0, -0.8), radius=0.02, colour="tab:orange", label="rod")
    b.shape("ball", "sphere", radius=0.05)
    b.initial_coordinates("elbow", angle=0.1, rates={"angle": -0.3})
    b.initial_coordinates("pivot", rates={"angle": 0.2})
    return b


CASES["pair of a builder"] = lambda: pair().build()


def bits(system):
    """The initial state, the reference configuration and what the assembly reported, to the last bit."""
    start = system.state.y.tobytes(), system.reference_configuration.y.tobytes(), system.gravity.tobytes()
    return *start, repr(system.assembly), system.rank, system.degrees_of_freedom, system.time


def data_of(system):
    """All arrays of the flat data but addresses, as bytes."""
    from runtime.system.model_writing import ADDRESSES, leaves

    return {k: np.asarray(v).tobytes() for k, v in leaves(system.data) if k.rpartition(".")[2] not in ADDRESSES}


@pytest.mark.parametrize("name", quick_for(CASES, [name for name in CASES if name != "recorded walk"]))
def test_a_system_is_written_and_read_without_loss(name, tmp_path):
    system = CASES[name]()
    file = system.to_file(tmp_path / "model.json")
    again = System.from_file(file)
    assert data_of(again) == data_of(system) and bits(again) == bits(system) and again.model.key == system.model.key
    assert (again.joint_names, again.redundant, again.branch_signs) == (
        system.joint_names,
        system.redundant,
        system.branch_signs,
    )
    assert again.to_file(tmp_path / "again.json").read_bytes() == file.read_bytes()
    if not system.overdetermined:
        t = system.time + np.array([0.0, 0.01, 0.02])
        settings = dict(t_start=system.time, t_eval=t, rtol=1e-6, atol=1e-6)
        runs = [runtime.simulate(one, t[-1], **settings) for one in (system, again)]
        assert runs[0].states.tobytes() == runs[1].states.tobytes()
    jsonschema.validate(json.loads(file.read_text()), json.loads(FILE.read_text()))


@pytest.mark.parametrize("name", [name for name in CASES if not name.startswith(("mechanism", "drivers", "recorded"))])
def test_a_builder_of_a_file_builds_an_equal_system(name, tmp_path):
    system = CASES[name]()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AssemblyWarning)
        again = Builder.from_file(system.to_file(tmp_path / "model.json")).build(check_units=False, time=system.time)
    assert np.abs(again.state.y - system.state.y).max() < 1e-12
    assert again.degrees_of_freedom == system.degrees_of_freedom and again.redundant == system.redundant


def test_a_builder_is_written_and_read_without_loss(tmp_path):
    builder = pair()
    file = builder.to_file(tmp_path / "pair.json")
    again = Builder.from_file(file)
    assert again.to_file(tmp_path / "again.json").read_bytes() == file.read_bytes() and again.axes == "global"
    one, other = builder.build(), again.build()
    assert data_of(one) == data_of(other) and bits(one) == bits(other)
    again.joint("more", "spherical", "ground", "ball", point=(0.5, 0, 0.2))  # in global axes, as of the builder
    assert_refused("exists; choose another name or pass overwrite=True", builder.to_file, file)
    assert builder.to_file(file, overwrite=True) == file


HAND = """{
 "format": "talus-model", "version": 1, "name": "by hand",
 "bodies": [
  {"name": "rod", "mass": 2, "inertia": [[0.1, 0, 0], [0, 0.1, 0], [0, 0, 0.05]], "r": [0, 0, -0.5]}
 ],
 "joints": [
  {"name": "pivot", "kind": "spherical", "body_i": "ground", "body_j": "rod",
   "values": {"s_i": [0, 0, 0], "s_j": [0, 0, 0.5]}}
 ],
 "limits": [
  {"name": "cone", "joint": "pivot", "reference": "ground", "xi": [1, 0, 0], "eta": [0, -1, 0], "direction": [0, 0, -1],
   "cone": {"longitudes": [0, 1.5707963267948966, 3.141592653589793, 4.71238898038469, 6.283185307179586],
            "latitudes": [0.5, 0.6, 0.5, 0.6, 0.5]}, "max_moment": 50, "compliance": 0.1}
 ],
 "loads": [
  {"name": "push", "body": "rod", "force": [{"t": [0, 1, 2, 3], "values": [0, 1, 0, 1], "degree": 3}, 0, 0]}
 ]
}
"""


FORMER = {
    "transition_velocity": "creep", "min_impact_speed": "least_impact", "as_published": "printed", '"version": 2': '"version": 1',
}  # fmt: skip


def test_a_file_of_version_1_with_former_names(tmp_path):
    """Parameters of contacts and frictions, and laws of limits, had other names."""
    b = Builder("former")
    b.body("rod", mass=2, inertia=(0.1, 0.1, 0.05), r=(0, 0, -0.5))
    b.joint("pivot", "spherical", "ground", "rod", s_i=(0, 0, 0), s_j=(0, 0, 0.5))
    b.force(
        "rub", "hinge_friction", "ground", "rod", a_i=(0, 0, 1), friction=1.0, transition_velocity=1e-3, damping=0.0
    )
    b.contact(
        "touch", "rod", centre=(0, 0, 0), radius=0.1, law="flores", stiffness=1e6, exponent=1.5, restitution=0.6,
        min_impact_speed=0.2, friction="coulomb", mu_c=0.3, mu_d=0.0, transition_velocity=0.02, point=(0, 0, -3),
    )  # fmt: skip
    cone = runtime.Cone.from_degrees([0, 90, 180, 270, 360], [30, 35, 30, 35, 30])
    b.limit(
        "edge", "pivot", reference="ground", xi=(1, 0, 0), eta=(0, -1, 0), direction=(0, 0, -1), cone=cone, max_moment=50,
        compliance=0.1, law="as_published",
    )  # fmt: skip
    text = b.to_file(tmp_path / "now.json").read_text()
    for now, former in FORMER.items():
        assert now in text
        text = text.replace(now, former)
    (tmp_path / "former.json").write_text(text)
    assert data_of(Builder.from_file(tmp_path / "former.json").build()) == data_of(b.build())


def test_a_file_written_by_hand(tmp_path):
    file = tmp_path / "hand.json"
    file.write_text(HAND)
    system = models.read(file).build()
    b = Builder("by hand")
    b.body("rod", mass=2, inertia=(0.1, 0.1, 0.05), r=(0, 0, -0.5))
    b.joint("pivot", "spherical", "ground", "rod", s_i=(0, 0, 0), s_j=(0, 0, 0.5))
    cone = runtime.Cone.from_degrees([0, 90, 180, 270, 360], np.rad2deg([0.5, 0.6, 0.5, 0.6, 0.5]))
    b.limit(
        "cone", "pivot", reference="ground", xi=(1, 0, 0), eta=(0, -1, 0), direction=(0, 0, -1), cone=cone, max_moment=50,
        compliance=0.1,
    )  # fmt: skip
    b.load("push", "rod", force=(Signal.spline([0, 1, 2, 3], [0, 1, 0, 1], degree=3), 0, 0))
    runs = [runtime.simulate(one, 1.0, rtol=1e-9, atol=1e-9) for one in (system, b.build())]
    assert np.abs(runs[0].states[-1] - runs[1].states[-1]).max() < 1e-12


REFUSED = {
    '"kind": "spherical"': ('"knid": "spherical"', "joints: 'pivot': unknown key 'knid'; did you mean 'kind'"),
    '"spherical"': ('"spherica"', "joint 'pivot': unknown kind 'spherica'; did you mean 'spherical'"),
    '"version": 1': ('"version": 7', "format version 7, this Talus reads up to 2; pip install -U"),
    '"version": 1,': ('"version": 1, "units": "mm",', "units = 'mm'; give all values in 'm, kg, s, rad'"),
    '"mass": 2': ('"mass": NaN', "NaN is no finite number"),
    '"mass": 2,': ('"mass": 2, "mass": 3,', "the key 'mass' is given twice"),
    '"mass":': ('"free": "no", "mass":', "body 'rod': free = 'no': give True or False"),
    '"max_moment": 50': ('"max_moment": 1e999', "1e999 is no finite number"),
    '"s_j": [0, 0, 0.5]': ('"s_j": [0, 0]', r"joint 'pivot' \(spherical\): s_j has the shape \(2,\)"),
    '"body": "rod"': ('"body": "rd"', "load 'push': unknown body 'rd'; did you mean 'rod'"),
    '"reference": "ground"': ('"reference": "rodd"', "limit 'cone'.*reference = 'rodd'"),
    '"talus-model"': ('"sdf"', "format = 'sdf'"),
    '"degree": 3': ('"degree": 4', "load 'push': force: signal: degree = 4"),
    '"joints": [': ('"joints": [[', "no JSON"),
}  # fmt: skip


@pytest.mark.parametrize("old", REFUSED)
def test_refused_files(old, tmp_path):
    new, message = REFUSED[old]
    assert old in HAND
    file = tmp_path / "hand.json"
    file.write_text(HAND.replace(old, new, 1))
    with pytest.raises(ModelError, match=f"^hand.json.*{message}"):
        Builder.from_file(file)


def test_lists_in_each_other_are_bounded(tmp_path):
    file = tmp_path / "deep.json"
    file.write_text("[" * 100_000)
    assert_refused("deep.json: lists in each other are too deep", Builder.from_file, file)


def test_a_file_that_is_too_large(tmp_path, monkeypatch):
    file = tmp_path / "hand.json"
    file.write_text(HAND)
    monkeypatch.setattr("runtime.support.files.LARGEST", 100)
    assert_refused("bytes, limit 100", Builder.from_file, file)


def test_a_definition_that_has_changed_since(tmp_path, monkeypatch):
    file = models.foot.build().to_file(tmp_path / "foot.json")
    own = model_description.digest_of_module
    new = lambda module: "other" if module.NAME == "modified_universal" else own(module)  # noqa: E731
    monkeypatch.setattr(model_reading, "digest_of_module", new)
    assert_refused(
        ("joint modified_universal has another definition", "Builder.from_file(path).build()"), System.from_file, file
    )
    with pytest.warns(AssemblyWarning, match=r"joint modified_universal has another definition"):
        Builder.from_file(file)


def test_a_system_file_that_was_edited(tmp_path):
    file = models.pendulum.build().to_file(tmp_path / "pendulum.json")
    mass = models.pendulum.build().bodies[0].mass
    file.write_text(file.read_text().replace(f'"mass": {mass!r}', '"mass": 9.25', 1))
    assert_refused("was edited after the system was written; Builder.from_file(path).build()", System.from_file, file)
    assert models.read(file).build().bodies[0].mass == 9.25


def test_definitions_of_a_user_are_passed_to_the_reader(tmp_path):
    system = on_a_pin().build()
    file = system.to_file(tmp_path / "own.json")
    assert_refused(
        "'pin' is a definition of the user's own; pass definitions=[codegen.compile_joint", System.from_file, file
    )
    again = System.from_file(file, definitions=[codegen.compile_joint(pin)])
    runs = [runtime.simulate(one, 0.1) for one in (system, again)]
    assert runs[0].states.tobytes() == runs[1].states.tobytes()


def pull(r_i, r_j, strength):
    """A constant tension between two centres of mass.

    strength : tension [N]
    """
    d = r_j - r_i
    return {"potential": strength * d.dot(d) ** 0.5}


def test_a_force_and_a_joint_of_a_user_may_have_one_name(tmp_path):
    force, joint = codegen.compile_force(pull), codegen.compile_joint(pin)
    joint.NAME = "pull"
    b = on_a_pin(joint)
    b.force("cord", force, "bob", strength=2.0)
    file = b.to_file(tmp_path / "own.json")
    again = Builder.from_file(file, definitions=[joint, force])
    assert again.to_file(tmp_path / "again.json").read_bytes() == file.read_bytes()
    runs = [runtime.simulate(one.build(), 0.1) for one in (b, again)]
    assert runs[0].states.tobytes() == runs[1].states.tobytes()
    assert_refused(
        ("force 'cord': 'pull' is a definition of the user's own; pass definitions=", "compile_force"),
        Builder.from_file,
        file,
        definitions=[joint],
    )
    with pytest.raises(
        ModelError,
        match="definitions: 3; give what codegen.compile_joint, compile_force, compile_limit or|definitions = ",
    ):
        Builder.from_file(file, definitions=[3])


OWN_LAWS = {
    "limit": (lambda: rod(POWER, exponent=1.5, max_moment=20.0, compliance=1.0), (POWER,), "compile_limit(power)"),
    "limit of the excess": (lambda: rod(LINEAR, stiffness=25.0, compliance=1.0), (LINEAR,), "compile_limit(linear)"),
    "contact": (
        lambda: ball(HARDENING, LUBRICATED, stiffness=1e6, order=1.5, loss=0.1, mu_v=2.0), (HARDENING, LUBRICATED),
        "compile_contact(hardening)",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", list(OWN_LAWS))
def test_own_laws_are_passed_to_the_reader(name, tmp_path):
    build, definitions, says = OWN_LAWS[name]
    system = build()
    file = system.to_file(tmp_path / "own.json")
    assert_refused(("is a definition of the user's own; pass definitions=", says), System.from_file, file)
    again = System.from_file(file, definitions=definitions)
    assert again.to_file(tmp_path / "again.json").read_bytes() == file.read_bytes()
    built = Builder.from_file(file, definitions=definitions).build()
    runs = [runtime.simulate(one, 0.5) for one in (system, again, built)]
    assert runs[0].states.tobytes() == runs[1].states.tobytes() == runs[2].states.tobytes()


def test_a_limit_with_an_own_law_written_by_hand(tmp_path):
    b = rod(LINEAR, stiffness=25.0, compliance=1.0)
    value = json.loads(b.to_file(tmp_path / "own.json").read_text())
    limit = value["limits"][0]
    for key in ("kind", "values"):
        del limit[key]
    limit |= dict(xi=[1, 0, 0], eta=[0, -1, 0], direction=[0, 0, -1])
    for key in ("system", "digest"):
        value.pop(key, None)
    file = tmp_path / "hand.json"
    file.write_text(json.dumps(value))
    built = Builder.from_file(file, definitions=[LINEAR]).build()
    assert built.limit("stop").numbers == dict(compliance=1.0, damping=0.0, stiffness=25.0)


def test_what_no_file_can_state_is_refused_by_name(tmp_path):
    endless = Signal(np.array([-np.inf, np.inf]), np.array([[1.0, 2.0, 0, 0, 0, 0]]))
    b = pair()
    b.load("odd", "rod", force=(0.0, endless, 0.0))
    assert_refused("load 'odd': force: a polynomial without first and last time", b.to_file, tmp_path / "pair.json")
    assert not (tmp_path / "pair.json").exists()


def spoilt(text, rng):
    """A text with one random change: a gap, another character, or another value."""
    way, place = rng.random(), rng.randrange(len(text))
    if way < 0.2:
        return text[:place] + text[place + rng.randrange(1, 40) :]
    if way < 0.4:
        return text[:place] + chr(rng.randrange(1, 300)) + text[place + 1 :]
    token = rng.choice(list(re.finditer(r'"(?:[^"\\]|\\.)*"|-?[0-9.][0-9.e+-]*|true|false', text)))
    value = rng.choice(
        ["NaN", "-1", "1e999", "null", "[]", "{}", "true", '"x"', "0", "9" * 30, '"\\ud800"', "[[[[", "1e-300"]
    )
    return text[: token.start()] + value + text[token.end() :]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::runtime.AssemblyWarning")
def test_damaged_files_give_one_sentence_each(tmp_path):
    texts = [models.foot.build(limits="elastic").to_file(tmp_path / "a.json").read_text()]
    texts += [
        pair().to_file(tmp_path / "b.json").read_text(),
        models.foot_ground.build().to_file(tmp_path / "c.json").read_text(),
    ]
    rng, file, refused = random.Random(5), tmp_path / "m.json", 0
    for _ in range(600):
        file.write_text(spoilt(rng.choice(texts), rng), encoding="utf-8", errors="surrogatepass")
        for read in (System.from_file, Builder.from_file):
            try:
                read(file)
            except ModelError as error:
                refused += 1
                assert "\n" not in str(error) and str(error).startswith("m.json")
    assert refused > 600


def test_the_schema_is_a_schema():
    schema = json.loads(FILE.read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(json.loads(HAND), schema)
    with pytest.raises(jsonschema.ValidationError, match="knid"):
        jsonschema.validate(json.loads(HAND.replace('"kind"', '"knid"')), schema)


def test_state_of_the_file_is_checked(tmp_path):
    system = replace(models.pendulum.build())
    value = json.loads(system.to_file(tmp_path / "p.json").read_text())
    value["system"]["state"][0][3] = 2.0
    from runtime.system.model_text import digest_of

    value["digest"] = digest_of(value)
    (tmp_path / "p.json").write_text(json.dumps(value))
    assert_refused("p of body 'rod' has the length", System.from_file, tmp_path / "p.json")


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::runtime.AssemblyWarning")
def test_random_mechanisms_with_all_kinds_of_parts(tmp_path):
    kinds: set[str] = set()
    for name in ("tree", "acting_tree", "acting_loop"):
        for seed in range(40):
            try:
                system = system_of(question.CLASSES[name](np.random.default_rng(seed)), name)
            except ModelError:
                continue  # mechanisms without admissible start
            file = system.to_file(tmp_path / "model.json", overwrite=True)
            again = System.from_file(file)
            assert data_of(again) == data_of(system) and bits(again) == bits(system)
            assert again.to_file(tmp_path / "again.json", overwrite=True).read_bytes() == file.read_bytes()
            kinds |= set(json.loads(file.read_text()).get("definitions", {}))
    counts = {
        sort: sum(what.startswith(sort) for what in kinds)
        for sort in ("joint", "force", "limit", "contact", "friction")
    }
    assert counts["joint"] >= 11 and counts["force"] >= 10 and all(counts.values()), counts
