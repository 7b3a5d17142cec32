"""A builder with two bodies, and the size of what it holds."""

from runtime import Builder

UNIT = (0.01, 0.01, 0.01)


def builder(**body):
    b = Builder("test")
    b.body("leg", mass=1.0, inertia=UNIT)
    b.body("foot", **({"mass": 1.0, "inertia": UNIT, "r": (0.5, 0.0, 0.0)} | body))
    return b


def counts(b):
    return [len(part) for part in vars(b).values() if isinstance(part, (dict, list))]
