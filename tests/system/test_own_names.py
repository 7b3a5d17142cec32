"""Own definitions are known by their names: none is that of a shipped one, and a system has one definition of each name."""

import pytest

import codegen
import runtime
from tests.support.definitions import named
from tests.support.own_laws import HARDENING, ball, rod
from tests.support.refusals import assert_refused
from tests.support.small_builder import builder


def touching(r_i, s_i, r_j, s_j):
    return {"point": r_j + s_j - r_i - s_i}


def pulling(r_i, s_i, r_j, s_j, strength):
    d = r_j + s_j - r_i - s_i
    return {"potential": strength * d.dot(d)}


def spring(x):
    return x**2 / 2


def pressing(delta, delta_dot, k):
    return {"potential": k * delta**2 / 2, "dissipation": 0}


def rubbing(slip, normal_force, k):
    drag = k * normal_force * slip.dot(slip)
    return {"below": drag, "above": drag}


POINTS = dict(s_i=(0, 0, 0), s_j=(0, 0, 0))
# Name -> how a definition of this name is compiled, and used.
FAMILIES = {
    "joint": (codegen.compile_joint, touching, lambda m: builder().joint("j", m, "leg", "foot", **POINTS)),
    "force": (codegen.compile_force, pulling, lambda m: builder().force("f", m, "leg", "foot", strength=1.0, **POINTS)),
    "limit": (codegen.compile_limit, spring, lambda m: rod(m, max_moment=1.0, compliance=1.0)),
    "contact": (codegen.compile_contact, pressing, lambda m: ball(m, k=1e4)),
    "friction": (codegen.compile_contact, rubbing, lambda m: ball("hertz", m, stiffness=1e4, k=1.0)),
}
SHIPPED = [("joint", "revolute"), ("joint", "guided_angle"), ("force", "hinge_stop"), ("contact", "hertz"),
           ("friction", "sticking"), *(("limit", name) for name in ("cubic", "conservative", "as_published"))]  # fmt: skip


@pytest.mark.parametrize(("family", "name"), SHIPPED)
def test_the_name_of_a_shipped_definition_is_refused(family, name):
    compiled, definition, use = FAMILIES[family]
    doc = "A definition.\n\nstrength : [N/m]\nk : [1]\n"
    says = (
        f"the definition '{name}' of this program has the name of a shipped one; rename its function",
        f"{family} '",
    )
    assert_refused(says if family != "friction" else says[0], use, compiled(named(name, definition, doc)))
    use(compiled(named("own", definition, doc)))


def two_bounces(first, second):
    b = runtime.Builder("two")
    for name, law, x in (("left", first, 0.0), ("right", second, 1.0)):
        b.body(name, mass=1.0, inertia=(1e-3,) * 3, r=(x, 0, 0.06), free=True)
        b.contact(f"under_{name}", name, centre=(0, 0, 0), radius=0.05, law=law, k=1e4)
    return b


def law_of_power(order):
    def law(delta, delta_dot, k):
        """A power.

        k : [1]
        """
        return {"potential": k * delta**order, "dissipation": 0}

    return codegen.compile_contact(law)


def test_a_system_has_one_definition_of_each_name(tmp_path):
    says = "contact 'under_right': its definition 'law' is another one than that of the same name before it"
    assert_refused(says, two_bounces(law_of_power(2), law_of_power(3)).build)
    assert_refused(says, two_bounces(law_of_power(2), law_of_power(3)).to_file, tmp_path / "two.json")
    assert len(two_bounces(law_of_power(2), law_of_power(2)).build().contacts) == 2


def test_law_and_friction_of_a_contact_share_no_parameter():
    doc = "A law.\n\nk : [1]\n"
    law, friction = (codegen.compile_contact(named(*one, doc)) for one in (("press", pressing), ("rub", rubbing)))
    assert_refused("law press and friction rub both have a parameter k; rename one", ball, law, friction, k=1e4)


def test_parameters_of_an_own_contact_have_any_names():
    """No question is asked about a stiffness, which an own law need not have, or may have with another meaning."""
    assert (
        ball(codegen.compile_contact(named("own", pressing, "A law.\n\nk : [N/m]\n")), k=1e4).contacts[0].law == "own"
    )
    assert ball(HARDENING, stiffness=1e-3, order=1.5, loss=0.0, gravity=(0, 0, -9.81)).contacts[0].law == "hardening"
