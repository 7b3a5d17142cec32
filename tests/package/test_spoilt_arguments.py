"""Objects that fail while they are read, and values that were changed behind their back, are refused by name."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Literal

import numpy as np
import pytest

import models
import runtime
from runtime import ModelError, State
from runtime.support import checked
from tests.support.refusals import assert_refused


@checked
def takes(
    number: float = 0.0,
    count: int = 0,
    text: str = "",
    kind: Literal["elastic", "dissipative"] | None = None,
    many: Sequence[float] = (),
    named: Mapping[str, float] | None = None,
):
    return locals()


class Spoilt:
    """An object whose class cannot be asked for."""

    @property
    def __class__(self):
        raise RuntimeError("no class")


class Text(str):
    """A text that does not show itself."""

    def __str__(self):
        raise RuntimeError("no text")

    __repr__ = __str__

    def __eq__(self, other):
        return True

    __hash__ = str.__hash__


class Table(dict):
    """A mapping that cannot be read."""

    def items(self):
        raise RuntimeError("no\nitems")


def broken():
    yield 1.0
    raise ZeroDivisionError("mine")


@pytest.mark.parametrize(
    "given, message",
    [
        (dict(number=Spoilt()), "takes: number = <Spoilt> cannot be read as numbers: RuntimeError: no class"),
        (dict(number=np.ma.zeros(2, "f4,i4")[0]), "takes: number = "),
        (dict(many=Spoilt()), "takes: many = <Spoilt> cannot be read: RuntimeError: no class"),
        (dict(text=Spoilt()), "takes: text = <Spoilt> cannot be read: RuntimeError: no class"),
        (dict(kind=Text("x")), "use 'elastic' or 'dissipative'"),
        (dict(named=Table(a=1.0)), "cannot be read: RuntimeError: no\\nitems"),
        (dict(many=broken()), "cannot be read: ZeroDivisionError: mine (test_spoilt_arguments.py, line"),
        (dict(count=10**5000), "takes: count = <int> is beyond 1e+50; give a whole number"),
        (dict(many=range(10**12)), "has more than 10000000 items"),
        (dict(number=np.broadcast_to(1.0, 10**12)), "has the shape (1000000000000,); give one number"),
    ],
)
def test_objects_that_fail_when_they_are_read_are_refused_by_name(given, message):
    assert_refused(message, takes, **given)


def test_sequences_and_texts_of_other_classes_arrive_as_plain_ones():
    found = takes(many=(x for x in (1.0, 2.0)), text=Text("rod"), kind=np.str_("elastic"))
    assert type(found["text"]) is str and type(found["kind"]) is str and found["many"] == [1.0, 2.0]

    @checked
    def given(names: Sequence[str]):
        return names

    assert given({"a": 1, "b": 2}) == ["a", "b"] and type(given({"a": 1})) is list


def test_parts_of_a_system_are_not_replaced_behind_its_data():
    pendulum = models.pendulum.build()
    body = replace(pendulum.bodies[0], mass=9.0)
    for part, value in (("gravity", np.zeros(3)), ("bodies", (body,)), ("joints", ()), ("limits", ({},))):
        with pytest.raises(
            ModelError, match=f"system 'planar pendulum': {part} cannot be replaced alone|limits = .* has item 0"
        ):
            replace(pendulum, **{part: value})
    assert_refused(
        "the state is of the bodies toes, main_foot, leg, not rod", replace, pendulum, state=models.foot.build().state
    )
    assert_refused("_made_of is its own; build a system with runtime.Builder", replace, pendulum, _made_of=np.ones(3))
    assert_refused("[0] = nan is not finite", replace, pendulum, state=State(("rod",), np.full(13, np.nan)))
    lighter = runtime.with_parameters(pendulum, {"gravity": (0.0, 0.0, -1.62), "mass.rod": 2.0})
    assert lighter.gravity[2] == -1.62 and replace(lighter, rank=lighter.rank).gravity[2] == -1.62
