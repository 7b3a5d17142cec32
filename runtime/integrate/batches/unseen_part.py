"""What steps of a batch do not see of signals and corners, as one function that ``batch.integrate`` calls by its address.

Compiled together with the loop it would take 4 % of the time of cases that have neither.
"""

from __future__ import annotations

from runtime.integrate.batches.corner_landing import reject_cornered
from runtime.integrate.batches.unseen_signals import reject_passed
from runtime.jit.pointers import local


def unseen_part(m, address, rtol, atol, special):  # type: ignore[no-untyped-def]
    """Reject accurate attempts that pass a pulse or a corner; the number of special ones of ``special``.

    ``address``: of the derivative of all lanes.
    """
    m = local(m)
    special = reject_passed(m, address, (rtol, atol), special)
    return reject_cornered(m, special)
