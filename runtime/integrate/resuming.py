"""The derivative at the time reached, after what acts on the system has changed there."""

from __future__ import annotations

from runtime.dynamics.equations import derivative
from runtime.integrate.balance import END, keep_powers
from runtime.jit.compilation import compiled


@compiled
def resume_at_end(m, t, w):  # type: ignore[no-untyped-def]
    """Renew the derivative and the powers at the end of the last step, with which the next one begins; a code."""
    code = derivative(m.s.time[0], m.y, t, w, m.end)
    keep_powers(m.balance, m.y, m.end, t, w, END)
    m.s.evaluations[0] += 1
    return code
