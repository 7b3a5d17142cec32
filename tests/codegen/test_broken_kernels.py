"""Every statement of a joint's kernel that is changed makes its check fail: no check passes by being blind."""

import numpy as np
import pytest

from tests.support.definitions import GENERATED
from tests.support.kernel_checks import CHECKS, KERNELS, SEEDS, TOLERANCE
from tests.support.kernel_text import mutants
from tests.support.kernels import case
from tests.support.marks import NIGHTLY_ALL
from tests.support.motions import distance

pytestmark = pytest.mark.slow

all_generated = pytest.mark.parametrize("name", GENERATED)


# The gradient of an angle depends on neither its signal nor the length of the projections, and the axis has the length 1:
# statements that compute what drops out may be broken without a change of any number.
WITH_IDLE_STATEMENTS = ("guided_angle", "guided_link", "cosine_of_link")


def changes_nothing(name, kernel, module):
    of_module = [(case(name, seed).run(kernel), case(name, seed).run(kernel, module)) for seed in SEEDS]
    return max(distance(np.hstack([*map(np.ravel, b)]), np.hstack([*map(np.ravel, a)])) for a, b in of_module) < 1e-13


def is_found(kernel, c, module):
    try:
        return CHECKS[kernel](c, module) > 1e3 * TOLERANCE
    except ValueError as error:  # the square root of a negative number, which compiled code makes NaN
        return "math domain error" in str(error)


@pytest.mark.parametrize("every", NIGHTLY_ALL)
@all_generated
@pytest.mark.parametrize("kernel", KERNELS)
def test_a_broken_kernel_is_found(name, kernel, every):
    """Whatever statement of a kernel is changed, its check says so: no check passes by being blind."""
    c = case(name, 0)
    missed = [
        text
        for text, module in mutants(c.module, kernel, every)
        if not is_found(kernel, c, module)
        and not (name in WITH_IDLE_STATEMENTS and changes_nothing(name, kernel, module))
    ]
    assert missed == []
