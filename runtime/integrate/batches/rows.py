"""Rows of the memory of a batch that has a number for each lane."""

from __future__ import annotations

# Rows of ``BatchWorkspace.lanes``; flags are 0.0 or 1.0.
(
    LENGTH,  # [s] of the attempt
    TIME,  # [s] at its start
    NOW,  # [s] at its end
    NEXT,  # [s] length of the next attempt
    BUSY,  # 1: the lane has a case
    SUM5,  # sum of squares of the estimate of order 5
    SUM3,  # and of that of order 3
    TOTAL,  # square of the error of the attempt in units of the tolerance
    FACTOR,  # by which the next step may differ
    CODE,  # of the stages: OK, or the first other code of an evaluation
    END_CODE,  # of the end of the step and of the stages of the dense output
    AFTER_REJECTION,  # 1 after a rejected attempt
    TAKEN,  # 1: the step is accepted
    SPECIAL,  # 1: the attempt is more than an accepted or rejected step
    BETWEEN,  # 1: the dense output of the step is needed
    OUTPUT_AT,  # [s] the next output
    ATTEMPTS,  # of the case
    TAKEN_STEPS,  # of the case
    REJECTED_STEPS,
    DENSE_STEPS,  # with dense output
    LOOK_AT,  # number of steps after which the run may not end
    ATTEMPT_WORST,  # the largest inverse square of a pivot ratio in the attempt
    EVER_WORST,  # the largest of these in the start and the accepted steps of the case
    LEAST_WORST,  # and the least
    SUSPECT,  # above 0: a limit may change its mode in the step
    WORKED,  # [J] work of the dampers in the step
    WORK,  # [J] in the case
    LANDINGS,  # attempts to end the step at a change of mode
    USUAL,  # [s] usual length of steps without an active limit
    USUAL_ACTIVE,  # [s] and with one
    ACTIVE,  # 1: a limit acts
    LOWER,  # fractions of the step between which a mode changes; NONE: none does
    UPPER,
    READY_LENGTH,  # [s] of cases that are ready to begin
    READY_CODE,
    READY_WORST,
    CHECKED_AT,  # [s] when the number of steps was last ``LOOK_AT``
    AIMED,  # 1 + limit at whose change the step is to end; 0: it is not aimed
    PLANNED,  # [s] length that it had otherwise
    LANDED,  # 1: it ends at this change, and the mode is the new one
    FRESH,  # 1: it ends at a change, or was cut at one
    SOON,  # above 0: a limit may change its mode in the next step
    CHECKS,  # of the case: evaluations at ends of steps that were aimed
    SPEED,  # [m/s] largest rate of a turn times its lever at the end of the attempt
    ATTEMPT_BOUNDED,  # 1: stability bounds the attempt
    BOUNDED,  # accepted steps of the case that stability bounded
    EXCHANGED,  # [J] work of forces in the steps of the case, without their signs
    UNRESOLVED_NOW,  # [J] bound of the error of the work of forces in the attempt
    UNRESOLVED,  # [J] and in the steps of the case
    BY_SLOPES,  # 1: rates within the step are slopes of the coordinates
    LONGEST,  # [s] length of the attempt at most
    WEIGHED,  # 1: the error by what the attempt does not see of signals is found; 2: a driver strays between its stages
    NEAR_TOUCH,  # 1: a force element may be touched between samples of the attempt
    SLIDING,  # [s] longest step since a slip passed its creep
    CUTS,  # attempts to end a step where a slip passes its creep
    CORNERED,  # attempts to end the step at a corner of a force
    UNCUT,  # [s] length of the step before
) = range(57)
ROWS_OF_LANES = 57
