"""Feet on plates, gait events and cycles of a person whose strikes and stances are known."""

from dataclasses import replace

import numpy as np
import pytest

from models.walking.capture import GaitEvent, GroundForce
from models.walking.gait_events import events_from_forces, gait_cycle, gait_cycles, with_sides
from models.walking.plate_assignment import assign_feet, foot_force
from tests.support.refusals import assert_refused
from tests.support.walking_person import CYCLE, DUTY, push, walker


def test_the_foot_on_a_plate_is_the_nearest_to_its_load():
    capture = walker()
    found = assign_feet(capture)
    assert found.sides == {"plate1": "right", "plate2": "left"} and found.plates("left") == ("plate2",)
    one, two = capture.forces
    both = GroundForce(
        "wide", one.t, one.force + two.force, np.where(np.isfinite(one.cop), one.cop, two.cop), 0 * one.t
    )
    away = replace(one, plate="far", cop=one.cop + [0.0, 0.9, 0.0])
    empty = replace(one, plate="empty", force=0 * one.force, cop=np.nan * one.cop)
    found = assign_feet(replace(capture, forces=(both, away, empty, two)))
    assert found.sides == {"plate2": "left"}
    for plate, why in (
        ("wide", "touched by both feet"),
        ("far", "under none of the feet; the nearest, left"),
        ("empty", "never loaded"),
    ):
        assert why in found.left_out[plate]
    assert_refused(
        ("no force plate under the right foot alone; force plate 'plate2' is under the left foot; ", "both feet"),
        foot_force,
        replace(capture, forces=(both, away, empty, two)),
        "right",
    )
    assert_refused(
        "no heel and forefoot markers among R_A",
        assign_feet,
        replace(capture, markers={"R_A": capture.marker("R_FCC")}),
    )
    given = {"right": ("R_FCC", "R_FM1"), "left": ("L_FCC", "L_FM5")}
    assert assign_feet(capture, given).sides == {"plate1": "right", "plate2": "left"}
    assert np.array_equal(foot_force(capture, "left").force, two.force)


def test_gait_cycles_from_each_source():
    capture = walker()
    wanted = (0.25, 0.25 + DUTY * CYCLE, 0.25 + CYCLE)
    cycle = gait_cycle(capture, "right")
    assert cycle.source == "forces and markers" and cycle.complete and cycle.plates == ("plate1",)
    assert np.allclose((cycle.strike, cycle.off), wanted[:2], atol=0.01) and cycle.next_strike == pytest.approx(
        wanted[2], abs=0.08
    )
    times, force, cop, free = push("R", 0.25 + CYCLE)
    second = GroundForce("plate3", times, force, np.where(force[:, 2:] > 5, cop, np.nan), free)
    cycle = gait_cycle(replace(capture, forces=(*capture.forces, second)), "right")
    assert (
        cycle.source == "forces"
        and cycle.next_strike == pytest.approx(wanted[2], abs=0.01)
        and cycle.stance == pytest.approx(DUTY, abs=0.02)
    )
    cycles = gait_cycles(replace(capture, forces=()), "right")
    assert cycles[0].source == "markers" and not cycles[0].complete and "heel" in cycles[0].note
    assert all(a.next_strike == b.strike for a, b in zip(cycles[:-1], cycles[1:], strict=True))
    marks = [
        (1.35, "foot_strike"),
        (2.03, "foot_off"),
        (0.25, "foot_strike"),
        (0.85, "foot_off"),
        (2.45, "foot_strike"),
    ]
    marked = replace(capture, events=tuple(GaitEvent(at, kind, "right") for at, kind in marks))
    cycles = gait_cycles(marked, "right")
    assert [(c.strike, c.off, c.next_strike) for c in cycles] == [(0.25, 0.85, 1.35), (1.35, 2.03, 2.45)]
    twice = replace(marked, events=(*marked.events, GaitEvent(0.95, "foot_off", "right")))  # it is ambiguous
    assert [c.strike for c in gait_cycles(twice, "right")] == [1.35]
    # An off that is marked early is used with a note.
    assert cycles[0].complete and "foot off at 0.85 s is 0.080 s off that of the forces" in cycles[0].note
    mended = replace(marked, events=(*marked.events[:1], GaitEvent(0.93, "foot_off", "right"), *marked.events[2:]))
    assert gait_cycle(mended, "right").complete and gait_cycle(mended, "right").strike == 0.25
    # The complete stance is chosen, not the first one.
    early = replace(mended, forces=(second,))
    assert gait_cycles(early, "right")[0].complete is False and gait_cycle(early, "right").strike == 1.35


CORNERS = np.array([[1.0, 1.0, 0.0], [-1.0, 1.0, 0.0], [-1.0, -1.0, 0.0], [1.0, -1.0, 0.0]])


@pytest.mark.parametrize("moved", [-0.15, -0.08, 0.08, 0.15])
@pytest.mark.parametrize("kind", ["foot_strike", "foot_off"])
def test_events_marked_early_or_late_are_used_beside_a_contact_that_is_whole(kind, moved):
    """On a plate with corners too; not where the contact is shorter and the foot is beside the plate there, or it is cut."""
    capture = walker()
    whole = gait_cycle(capture, "right")
    at = {"foot_strike": whole.strike, "foot_off": whole.off}
    at[kind] += moved
    marks = [(at["foot_strike"], "foot_strike"), (at["foot_off"], "foot_off"), (whole.next_strike, "foot_strike")]
    marked = replace(capture, events=tuple(GaitEvent(time, name, "right") for time, name in marks))
    cycle = gait_cycle(marked, "right")
    assert cycle.complete and cycle.source == "file" and f"{abs(moved):.3f} s off that of the forces" in cycle.note
    heel = capture.marker("R_FCC")[int(whole.strike * 100) + 30] * (1.0, 1.0, 0.0)
    on, off = (replace(marked.force("plate1"), corners=CORNERS + heel + (away, 0.0, 0.0)) for away in (0.0, 3.0))
    assert gait_cycle(replace(marked, forces=(on, marked.forces[1])), "right").complete
    shorter = (moved < 0.0) is (kind == "foot_strike")
    assert gait_cycle(replace(marked, forces=(off, marked.forces[1])), "right").complete is not shorter


def test_an_event_far_from_the_contact_does_not_count_as_marked_late():
    capture = walker()
    whole = gait_cycle(capture, "right")
    marks = [(whole.strike, "foot_strike"), (whole.off + 0.3, "foot_off"), (whole.next_strike + 0.4, "foot_strike")]
    marked = replace(capture, events=tuple(GaitEvent(time, name, "right") for time, name in marks))
    assert not gait_cycle(marked, "right").complete


@pytest.mark.parametrize(
    ("plates", "how"), [(True, "2 by the force plates, 2 by the markers"), (False, "for 4 by the markers")]
)
def test_the_foot_of_events_without_a_side_is_that_of_the_plates_or_the_markers(plates, how):
    capture = walker()
    known = gait_cycle(capture, "right")
    marks = [
        (known.strike + 0.02, "foot_strike"),
        (known.off, "foot_off"),
        (known.next_strike, "foot_strike"),
        (2.7, "foot_off"),
    ]
    marked = replace(capture, events=tuple(GaitEvent(*mark, "unknown") for mark in marks))
    marked = marked if plates else replace(marked, forces=())
    found, said = with_sides(marked)
    sides = [event.side for event in found.events]
    assert sides[:3] == ["right"] * 3 and how in said and "the foot of 4 events" in said
    cycle = gait_cycle(marked, "right")
    assert cycle.source == "file" and cycle.strike == known.strike + 0.02 and said in cycle.note
    assert with_sides(found) == (found, "")


def test_stances_that_the_recording_cuts_have_no_strike_or_no_off():
    capture = walker()
    kinds = [(e.kind, e.side) for e in events_from_forces(capture)]
    assert sorted(kinds) == [(kind, side) for kind in ("foot_off", "foot_strike") for side in ("left", "right")]
    late = replace(capture, forces=tuple(between(grf, 0.5, 1.2) for grf in capture.forces))
    assert [(e.kind, e.side) for e in events_from_forces(late)] == [("foot_strike", "left"), ("foot_off", "right")]


def between(grf, t0, t1):
    keep = (grf.t >= t0) & (grf.t <= t1)
    return replace(grf, **{name: getattr(grf, name)[keep] for name in ("t", "force", "cop", "free_moment")})


def test_a_trial_without_events_is_refused_with_one_sentence():
    capture = walker()
    still = {label: np.broadcast_to(p[0], p.shape) for label, p in capture.markers.items()}
    assert_refused(
        ("walker: no gait cycle of the left foot", " 0 in the file, 0 from the force plates, 0 from the markers"),
        gait_cycle,
        replace(capture, markers=still, forces=()),
        "left",
    )
    assert_refused(
        "no heel and forefoot markers", gait_cycle, replace(capture, markers={"A": capture.marker("R_IAS")}), "left"
    )
    assert_refused("side = 'middle'; use 'left' or 'right'", gait_cycle, capture, "middle")
