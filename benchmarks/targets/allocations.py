"""Whether compiled code allocates.  Its LLVM IR is searched for calls of functions that it does not contain."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from benchmarks.measure import Say, compiled_entries
from benchmarks.targets.target import Target

# External functions that compiled code may call: LLVM's own operations, arithmetic of the C library, numba's ``nextafter``.
# None of them touches the heap.
HARMLESS = re.compile(
    r"llvm\.|(sqrt|pow|exp|log|sin|cos|tan|a(sin|cos|tan2?)|fabs|floor|ceil|fmod|copysign|hypot)$|numba_(nextafter|frexp|ldexp)$"
)
_DEFINITION = re.compile(r'^define[^@\n]*@(?:"(?P<quoted>[^"]+)"|(?P<plain>[\w.$]+))\((?P<body>.*?)^}', re.M | re.S)
_CALL = re.compile(r'\b(?:call|invoke)\b[^@\n]*@(?:"([^"]+)"|([\w.$]+))\(')
# numba's own entries from Python: they convert arguments and results outside the code that is examined.
_WRAPPERS = ("_ZN7cpython", "cfunc.")


def outside_calls(function: Any, signature: Any) -> set[str]:
    """Names of the external functions that compiled code calls, other than harmless ones.

    Parameters
    ----------
    function : numba dispatcher
        It is compiled again, because numba does not show the code of functions that come from its cache.
    signature : tuple of numba types

    Notes
    -----
    Calls through an address, by which a user's own joint is called, have no name and are not examined.
    """
    anew = type(function)(function.py_func, targetoptions=dict(function.targetoptions))
    anew.compile(signature)
    text = "\n".join(anew.inspect_llvm().values())
    bodies = {match["quoted"] or match["plain"]: match["body"] for match in _DEFINITION.finditer(text)}
    inside = {name: body for name, body in bodies.items() if not name.startswith(_WRAPPERS)}
    called = {quoted or plain for body in inside.values() for quoted, plain in _CALL.findall(body)}
    return {name for name in called - bodies.keys() if not HARMLESS.match(name)}


def heap(quick: bool, say: Say) -> Iterator[Target]:
    """Whether compiled code allocates on the heap."""
    entries = compiled_entries(step=not quick)
    for what, functions in entries.items():
        say(f"compiling the {what} again to read its code")
        outside = set().union(*(outside_calls(f, signature) for f in functions for signature in f.signatures))
        yield Target(
            f"heap allocations, {what}", float(len(outside)), 0.0, "calls",
            f"LLVM IR of {', '.join(f.__name__ for f in functions)}: calls of external functions, other than LLVM's own and "
            f"arithmetic, are {', '.join(sorted(outside)) or 'none'}; numba's memory runtime is switched off",
        )  # fmt: skip
    if quick:
        yield Target("heap allocations, step", None, 0.0, "calls", "left out by --quick")
