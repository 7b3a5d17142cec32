"""Parts that were made before from the same values: found again only where types, shapes and bits are the same."""

import numpy as np
import pytest

import models
import runtime
from runtime.ensemble.seals import digest_of_system
from runtime.support.by_value import Kept, exact_key

Z = (0.0, 0.0, 1.0)


@pytest.mark.parametrize(
    "one, other",
    [
        (1.0, True),
        (1, True),
        (0.0, -0.0),
        (1, 1.0),
        ("1", 1),
        (Z, (0.0, 0.0, True)),
        (Z, (0.0, -0.0, 1.0)),
        ((Z, None), (None, Z)),
    ],
)
def test_values_that_python_calls_equal_have_different_keys(one, other):
    first, second = ([value] if not isinstance(value, tuple) or value == Z else list(value) for value in (one, other))
    assert exact_key(first) != exact_key(second) or exact_key(second) is None


def test_values_whose_bits_do_not_tell_their_kind_have_no_key():
    plain = np.array(Z)
    assert exact_key([plain]) == exact_key([plain.copy()]) is not None
    bits = plain.view(np.int64)
    for other in (
        bits,
        plain.tobytes(),
        plain.astype(">f8"),
        plain[None],
        np.ma.array(plain),
        np.float64(1.0),
        [plain],
        object(),
    ):
        assert exact_key([other]) is None


def hinged(**values):
    b = runtime.Builder()
    b.body("bob", mass=1.0, inertia=(1.0, 1.0, 1.0), r=(0.0, 0.0, -0.5), guess=True)
    given = dict(s_i=(0.0, 0.0, 0.0), a_i=Z, s_j=(0.0, 0.0, 0.5), a_j=Z) | values
    b.joint("hinge", "revolute", "ground", "bob", **given)
    return b


def test_what_is_refused_is_refused_after_equal_values_were_taken():
    hinged(a_i=(0.0, 0.0, 1))
    with pytest.raises(runtime.ModelError, match="truth value"):
        hinged(a_i=(0.0, 0.0, True))
    b = runtime.Builder()
    b.body("other", mass=1.0, inertia=(1.0, 1.0, 1.0))
    with pytest.raises(runtime.ModelError, match="unknown body 'bob'"):
        b.joint("hinge", "revolute", "ground", "bob", s_i=(0.0, 0.0, 0.0), a_i=Z, s_j=(0.0, 0.0, 0.5), a_j=Z)
    with pytest.raises(runtime.ModelError, match="exists already"):
        hinged().joint("hinge", "revolute", "ground", "bob", s_i=(0.0, 0.0, 0.0), a_i=Z, s_j=(0.0, 0.0, 0.5), a_j=Z)


def test_an_array_that_changes_after_the_call_changes_no_part():
    point = np.array([0.0, 0.0, 0.5])
    first = hinged(s_j=point)
    point[2] = 0.7
    second = hinged(s_j=point)
    lengths = [b.build().joint("hinge").values["s_j"][2] for b in (first, second, hinged(s_j=(0.0, 0.0, 0.5)))]
    assert lengths == [0.5, 0.7, 0.5]


def test_systems_of_kept_parts_have_the_bits_of_new_ones(monkeypatch):
    def systems():
        for length, angle in ((0.03, 25.0), (0.04, 25.0), (0.04, 41.0)):
            for side in ("right", "left"):
                yield models.foot.build(limits="elastic", side=side, link_length=length, subtalar_inclination_deg=angle)
        for pitch in (10.0, 20.0):
            yield models.foot_ground.build(pitch_deg=pitch)
        b = hinged()
        cone = runtime.Cone.from_degrees((0, 90, 180, 270, 360), (20, 30, 40, 50, 20))
        law = dict(max_moment=1.0, compliance=0.1)
        b.limit("stop", "hinge", reference="bob", xi=(0, 0, 1), eta=(1, 0, 0), cone=cone, **law)
        yield b.build()

    kept = [digest_of_system(one, one.state.y) for _ in range(2) for one in systems()]
    monkeypatch.setattr(Kept, "get", lambda self, key: None)
    new = [digest_of_system(one, one.state.y) for one in systems()]
    assert kept == 2 * new


def test_fewer_parts_are_kept_than_were_made():
    known = Kept(3)
    for k in range(8):
        known.keep(exact_key([k]), str(k))
        assert known.get(exact_key([k])) == str(k) and len(known._found) <= 3
    assert known.keep(None, "none") == "none" and known.get(None) is None
