"""Models that were read in random states: the largest error of their accelerations."""

import numpy as np

from benchmarks.files.owners import largest_error
from benchmarks.files.states import accelerations_of, random_sample, state_of, talus_accelerations


def worst(reading, reference, count=20, speed=1.0):
    """Largest error of the accelerations of all bodies in random states, whose rates are multiplied by ``speed``."""
    system, random, errors = reading.build(), np.random.default_rng(1), []
    for _ in range(count):
        sample = random_sample(reading, random)
        for name in sample.u:
            sample.u[name] = speed * sample.u[name]
        wanted = accelerations_of(reading, system, sample, reference(sample))
        errors.append(largest_error(wanted, talus_accelerations(system, state_of(reading, system, sample))))
    return max(errors)


def coordinate_table(reading, count, widest, *, seed):
    """Random values, rates and accelerations of all coordinates of a file, (count,) each."""
    names = list(dict.fromkeys(law.coordinate for law in reading.source.laws))
    random = np.random.default_rng(seed)
    return [{name: random.uniform(-widest, widest, count) for name in names} for _ in range(3)]
