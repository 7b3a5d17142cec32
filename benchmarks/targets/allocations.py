"""Whether compiled code allocates.  Its LLVM IR is searched for calls of functions that it does not contain."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from numba.core.registry import CPUDispatcher

from benchmarks.measure import Say, compiled_entries
from benchmarks.targets.target import Target
from runtime.jit.pipelines import EntryCompiler

# External functions that compiled code may call: LLVM's own operations, arithmetic of the C library, numba's ``nextafter``.
# None of them touches the heap.
HARMLESS = re.compile(
    r"llvm\.|(sqrt|pow|exp|log|sin|cos|tan|a(sin|cos|tan2?)|fabs|floor|ceil|fmod|copysign|hypot)$|numba_(nextafter|frexp|ldexp)$"
)
_DEFINITION = re.compile(r'^define[^@\n]*@(?:"(?P<quoted>[^"]+)"|(?P<plain>[\w.$]+))\((?P<body>.*?)^}', re.M | re.S)
_CALL = re.compile(r'\b(?:call|invoke)\b[^@\n]*@(?:"([^"]+)"|([\w.$]+))\(')
# numba's own entries from Python: they convert arguments and results outside the code that is examined.
_WRAPPERS = ("_ZN7cpython", "cfunc.")


def outside_calls(function: Any, signature: Any, *, memory: bool = False) -> set[str]:
    """Names of the external functions that compiled code calls, other than harmless ones.

    Parameters
    ----------
    function : function
        It is compiled again, because code that comes from the cache is machine code alone.
    signature : tuple of numba types
    memory : bool
        Compile with numba's memory runtime.

    Notes
    -----
    Calls through an address have no name: what is called so is examined by itself, but for a user's own joint.
    """
    options = dict(nopython=True, error_model="numpy", _nrt=memory)
    anew = CPUDispatcher(function, targetoptions=options, pipeline_class=EntryCompiler)
    anew.compile(tuple(signature))
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
        outside = set().union(*(outside_calls(f, signature) for f, signature in functions))
        yield Target(
            f"heap allocations, {what}", float(len(outside)), 0.0, "calls",
            f"LLVM IR of {', '.join(f.__name__ for f, _ in functions)}: calls of external functions, other than LLVM's own and "
            f"arithmetic, are {', '.join(sorted(outside)) or 'none'}; numba's memory runtime is switched off",
        )  # fmt: skip
    if quick:
        yield Target("heap allocations, step", None, 0.0, "calls", "left out by --quick")
