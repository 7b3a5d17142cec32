"""Points of the differences of evaluations, in compiled code: states along a derivative, nearby systems."""

from __future__ import annotations

from runtime.jit.compilation import inlined

# Of the larger of a coordinate and its scale: reach of differences of order six along z, and of order two, whose error is 1e-10.
NEARBY, NEARER = 1e-3, 1e-5
# Scales of places, rates and angles, and of states of forces, such as lengths of fibres.
OF_BODIES, OF_FORCES = 1.0, 0.01
FARTHEST = 4.0  # of this: with nearby parameters
NEAREST = 0.01  # step of a parameter below which differences along z have their own: rounding counts in inverse proportion to it


@inlined
def reach_with(points):  # type: ignore[no-untyped-def]
    """Reach of a difference by so many points."""
    return NEARBY if points == 6 else NEARER


@inlined
def reach_of(z, y, scale):  # type: ignore[no-untyped-def]
    """Largest component of z in units of y, or of its scale where y is smaller."""
    reach = 0.0
    for i in range(len(z)):
        reach = max(reach, abs(z[i]) / max(scale[i], abs(y[i])))
    return reach


@inlined
def add_point(d, data, work, along, weight):  # type: ignore[no-untyped-def]
    """Add a point: addresses of data and memory, how many times z the state is shifted, and the weight."""
    p = d.used[0]
    d.at[p, 0], d.at[p, 1], d.along[p, 0], d.along[p, 1] = data, work, along, weight
    d.used[0] = p + 1


@inlined
def place_points(k, states, z, d):  # type: ignore[no-untyped-def]
    """Points of the difference for the derivative over parameter k, whose derivatives of the state are z.

    Either nearby systems at states along z, or, where these states would be too far or too near, the system itself along z and
    nearby systems at the state itself.
    """
    reach, farthest, points = reach_of(z, states[: len(z)], d.scale), 0.0, d.points[k]
    for q in range(points):
        farthest = max(farthest, abs(d.offsets[k, q]))
    of_parameter, along = reach_with(points), reach_with(len(d.places))
    at_once = points > 0 and reach * farthest <= FARTHEST * of_parameter
    if farthest < NEAREST * of_parameter and reach > 0.0:
        at_once = False
    d.used[0] = 0
    for q in range(len(d.places) if reach > 0.0 and not at_once else 0):
        add_point(d, d.itself[0], d.itself[1], along / reach * d.places[q], d.weights[q] * reach / along)
    for q in range(points):
        add_point(d, d.data[k, q], d.works[k, q], d.offsets[k, q] if at_once else 0.0, d.factors[k, q])


@inlined
def shift(states, m, z, d):  # type: ignore[no-untyped-def]
    """The state s times z away from a state, into ``shifted``."""
    for i in range(len(z)):
        d.shifted[i] = states[i] + m * z[i]
