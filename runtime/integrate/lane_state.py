"""What a driver knows of each of its lanes, by names; flags are 0.0 or 1.0."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from runtime.integrate.memory_kinds import Common, OfLanes
from runtime.jit.compilation import inlined
from runtime.jit.named_rows import Fields, Row
from runtime.support.arrays import Floats, Ints, lanes_of

SAMPLES = 4  # places of a step at which limits, contacts, kinks of forces and events are checked


class LaneState(Fields):
    """State of the driver in a lane: of the attempt, of its case, and of the next case that is ready."""

    length: Row  # [s] of the attempt
    time: Row  # [s] at its start
    end_time: Row  # [s] at its end
    next_length: Row  # [s] length of the next attempt
    busy: Row  # 1: the lane has a case
    sum5: Row  # sum of squares of the estimate of order 5
    sum3: Row  # and of that of order 3
    error: Row  # square of the error of the attempt in units of the tolerance
    factor: Row  # by which the next step may differ
    code: Row  # of the stages: OK, or the first other code of an evaluation
    end_code: Row  # of the end of the step and of the stages of the dense output
    after_rejection: Row  # 1 after a rejected attempt
    accepted: Row  # 1: the step is accepted
    special: Row  # 1: the attempt is more than an accepted or rejected step
    has_outputs: Row  # 1: the dense output of the step is needed
    next_output: Row  # [s] the next output
    attempts: Row  # of the case
    steps: Row  # of the case
    rejections: Row
    dense_steps: Row  # with dense output
    look_at: Row  # number of steps after which the run may not end
    attempt_worst: Row  # the largest inverse square of a pivot ratio in the attempt
    ever_worst: Row  # the largest of these in the start and the accepted steps of the case
    least_worst: Row  # and the least
    suspect: Row  # above 0: a limit may change its mode in the step
    damped_now: Row  # [J] work of the dampers in the step
    damped: Row  # [J] in the case
    landings: Row  # attempts to end the step at a change of mode
    usual: Row  # [s] usual length of steps without an active limit
    usual_active: Row  # [s] and with one
    active: Row  # 1: a limit acts
    lower: Row  # fractions of the step between which a mode changes; NONE: none does
    upper: Row
    ready_length: Row  # [s] of cases that are ready to begin
    ready_code: Row
    ready_worst: Row
    checked_at: Row  # [s] when the number of steps was last ``LOOK_AT``
    aimed: Row  # 1 + limit at whose change the step is to end; 0: it is not aimed
    planned: Row  # [s] length that it had otherwise
    landed: Row  # 1: it ends at this change, and the mode is the new one
    fresh: Row  # 1: it ends at a change, or was cut at one
    soon: Row  # above 0: a limit may change its mode in the next step
    checks: Row  # of the case: evaluations at ends of steps that were aimed
    speed: Row  # [m/s] largest rate of a turn times its lever at the end of the attempt
    attempt_bounded: Row  # 1: stability bounds the attempt
    bounded: Row  # accepted steps of the case that stability bounded
    exchanged: Row  # [J] work of forces in the steps of the case, without their signs
    unresolved_now: Row  # [J] bound of the error of the work of forces in the attempt
    unresolved: Row  # [J] and in the steps of the case
    by_slopes: Row  # 1: rates within the step are slopes of the coordinates
    longest: Row  # [s] length of the attempt at most
    until_knot: Row  # [s] until the knot of a signal at which the attempt is to end, where that is soon; else infinite
    near_touch: Row  # 1: a force element may be touched between samples of the attempt
    sliding: Row  # [s] longest step since a slip passed its transition velocity
    cuts: Row  # attempts to end a step where a slip passes its transition velocity
    kinked: Row  # attempts to end the step at a kink of a force
    uncut: Row  # [s] length of the step before
    at: Row  # fraction of the step at which states are asked for
    sought: Row  # 1: a change is sought in the step
    below: Row  # values of the foremost row at ``lower`` and ``upper``
    above: Row
    fraction: Row  # of the step at which modes change, or NONE
    first: Row  # the row that is passed there
    then: Row  # what comes of the attempt (``surfaces.GO_ON``, ...)
    then_length: Row  # [s] of the next one; 0: by the error
    was_active: Row  # ``active`` in the step
    changed: Row  # 1: modes change at the end of the step, -1: at its start
    crossing: Row  # 1: an event may pass zero in the step
    until: Row  # [s] end of the results of the step: its end, or the event that ends the case
    # Of single runs alone.
    started: Row  # 1: the first derivative and step are known
    left: Row  # steps that may be taken in this call
    last_length: Row  # [s] of the last step
    began: Row  # [s] start of the last step
    step_ended: Row  # 1: its end is not yet the next beginning
    dense_ready: Row  # 1: its dense output is ready
    evaluations: Row
    smallest_pivot: Row  # pivot ratio in the last attempt
    least_pivot: Row  # the smallest of all accepted steps
    first_close: Row  # [s] the first step whose smallest one costs digits
    pivot_at_begin: Row  # at the begin of the next step
    turn: Row  # 1: the other method should go on
    speaking: Row  # steps that speak for it
    silent: Row  # those since that do not
    needed: Row  # how many of the former a turn takes; 0: never turn (``runtime.integrate.automatic``)
    reach: Row  # [s] length of the last stiff step of dop853 times the modulus of the largest eigenvalue
    kinks_at: Row  # [s] time of the first row of ``Stepper.kinks``
    passed_kinks: Row  # kinks of forces at which steps ended
    sticking: Row  # 1: no step is to end at a kink, as friction sticks
    projected: Row  # 1: states are projected onto the constraints
    retries: Row  # attempts at a step that were given up near a singular pose
    repeated: Row  # 1: the last attempt is to be repeated there
    ends_ahead: Row  # 1: it is to end ahead of the pose
    close_by: Row  # 1: the last step is close to a singular pose
    brief: Row  # 1: the last attempt, or step, was a brief one of dop853
    loose: Row  # factor of the tolerance there
    usual_step: Row  # [s] length of the last usual step
    lost: Row  # largest error in units of the tolerance that was accepted there
    first_lost: Row  # [s] the first such step
    largest_pivot: Row  # largest pivot ratio at an end
    project_stages: Row  # fraction of it below which stages are projected
    crossing_steps: Row  # steps in a row close to a singular pose
    off: Row  # what the last projection left or moved, as a fraction of what is allowed
    doubted: Row  # 1: the last step may have left its branch


class Surfaces(NamedTuple):
    """Values of limits and contacts (``runtime.integrate.surfaces``)."""

    part: Common[Ints]  # (1,) of a batch: address of ``surfaces_part.surfaces_part``; 0: there are no rows
    over: OfLanes[Floats]  # (rows, W) values in the states that were asked for last
    samples: OfLanes[Floats]  # (SAMPLES + 1, rows, W)


def surfaces_of(rows: int, lanes: int) -> Surfaces:
    """Memory for so many rows."""
    return Surfaces(np.zeros(1, np.int64), lanes_of(rows, lanes), lanes_of(SAMPLES + 1, rows, lanes))


@inlined
def usual_of(s, lane, active):  # type: ignore[no-untyped-def]
    """Usual length of the steps of a lane while a limit or contact acts, or while none does."""
    return s.usual_active[lane] if active == 1.0 else s.usual[lane]


@inlined
def set_usual(s, lane, active, length):  # type: ignore[no-untyped-def]
    """Set the length that ``usual_of`` gives."""
    if active == 1.0:
        s.usual_active[lane] = length
    else:
        s.usual[lane] = length


@inlined
def reject(s, lane, error, factor, special):  # type: ignore[no-untyped-def]
    """Reject the accurate attempt of a lane by another error; the number of special ones of ``special``."""
    left = special - (1 if s.special[lane] > 0.0 else 0)
    s.accepted[lane] = s.special[lane] = s.has_outputs[lane] = 0.0
    s.error[lane], s.factor[lane] = error, factor
    return left
