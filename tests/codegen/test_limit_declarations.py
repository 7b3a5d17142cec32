"""A limit declares the joints that it fits and the vectors that it borrows; unclear declarations are refused by name."""

import pytest

from codegen import DefinitionError, joints, limits
from codegen.compiler.declarations import declaration_of, fits, refuse_unclear_limits
from codegen.compiler.dispatch import definitions
from generated import dispatch
from tests.support.refusals import refused_with

ALL_JOINTS = definitions(joints)


def test_modules_of_limits_state_their_declarations():
    found = {m.NAME: (m.FITS, m.BORROWS, m.OWN_DIRECTION) for m in dispatch.LIMITS}
    declared = {f.__name__: declaration_of(f) for f in definitions(limits)}
    assert found == {name: (d.fits, d.borrows, d.own_direction) for name, d in declared.items()}
    assert found == {
        "cone": ((), (), ""),
        "hinge": (("revolute", "cylindrical"), ("a_i", "a_j"), ""),
        "link_hinge": (("modified_universal",), ("a_i", "a_j", "s_i", "s_j"), "the massless link"),
        "cross_hinge": (("universal",), ("a_i", "a_j"), ""),
    }
    refuse_unclear_limits(definitions(limits), ALL_JOINTS)


def of_every_joint(u_zeta_i, u_r_j, damping, rate):
    """A limit without a declaration."""


def of_every_joint_too(u_zeta_i, u_r_j, damping, rate):
    """Another limit without a declaration."""


@fits("ball")
def of_an_unknown_joint(u_zeta_i, u_r_j, damping, rate):
    """A limit of a joint that does not exist."""


@fits("spherical", borrows=("a_i",))
def borrower_of_an_axis(u_zeta_i, a_i, damping, rate):
    """A limit that borrows an axis of a joint without axes."""


@fits(borrows=("a_i",))
def borrower_from_every_joint(u_zeta_i, a_i, damping, rate):
    """A limit that borrows from every joint."""


@fits("revolute")
def with_an_undeclared_vector(u_zeta_i, a_j, damping, rate):
    """A limit whose vector comes from nowhere."""


@fits("revolute", borrows=("a_i",))
def of_a_revolute_joint(u_zeta_i, a_i, damping, rate):
    """A limit of revolute joints."""


@fits("spherical", "revolute", borrows=())
def of_a_revolute_joint_too(u_zeta_i, u_r_j, damping, rate):
    """A second limit of revolute joints."""


@fits("fixed", borrows=("xi_i",))
def borrower_of_a_frame_axis(u_zeta_i, xi_i, damping, rate):
    """A limit that borrows an axis of a body's frame, which is no value of the joint."""


@fits("constant_distance", borrows=("l",))
def borrower_of_a_constant(u_zeta_i, l, damping, rate):
    """A limit that borrows a length."""


@fits("point_on_line", borrows=("a_i",))
def borrower_of_one_side(u_zeta_i, a_i, damping, rate):
    """A limit that borrows a direction of one body, for which the other body has none."""


@fits("universal", borrows=("a_i",))
def hinge_without_the_other_axis(a_i, e_i, u_zeta_i, u_r_j, damping, rate):
    """The direction of the moving body must not lie along its axis."""


@fits("universal", borrows=("a_j",))
def hinge_without_an_axis(a_j, e_i, u_zeta_i, damping, rate):
    """A direction perpendicular to nothing."""


@fits("universal", borrows=("a_i",))
def components_without_their_direction(a_i, u_zeta_i, to_xi, damping, rate):
    """A component of a direction that does not occur."""


@pytest.mark.parametrize(
    ("family", "says"),
    [
        (
            [of_every_joint, of_every_joint_too],
            "fits every joint, as 'of_every_joint' does; one limit per kind of joint",
        ),
        ([of_an_unknown_joint], "fits the unknown joint 'ball'; use spherical, "),
        (
            [borrower_of_an_axis],
            "borrows a_i, which the joint 'spherical' does not have as points or directions of both",
        ),
        (
            [borrower_of_a_frame_axis],
            "borrows xi_i, which the joint 'fixed' does not have as points or directions of both",
        ),
        (
            [borrower_of_a_constant],
            "borrows l, which the joint 'constant_distance' does not have as points or directions",
        ),
        (
            [borrower_of_one_side],
            "borrows a_i, which the joint 'point_on_line' does not have as points or directions of",
        ),
        ([hinge_without_the_other_axis], "the axis of a hinge, which is not borrowed; add a_j to borrows"),
        ([hinge_without_an_axis], "the axis of a hinge, which is not borrowed; add a_i to borrows"),
        ([components_without_their_direction], "argument 'to_xi' is a component of e_i, which is no argument; add e_i"),
        ([borrower_from_every_joint], "borrows a_i of every joint; name the joints that it fits"),
        ([with_an_undeclared_vector], "argument 'a_j' is not borrowed from the joint; others: u_xi_i, "),
        ([of_a_revolute_joint, of_a_revolute_joint_too], "fits revolute, as 'of_a_revolute_joint' does"),
    ],
    ids=lambda value: value[-1].__name__ if isinstance(value, list) else "",
)
def test_an_unclear_declaration_is_refused_by_name(family, says):
    assert refused_with(DefinitionError, says, refuse_unclear_limits, family, ALL_JOINTS).startswith(
        f"definition '{family[-1].__name__}': "
    )


def test_clear_declarations_are_accepted():
    refuse_unclear_limits([of_every_joint, of_a_revolute_joint], ALL_JOINTS)
