"""Does compiled code allocate?  Its LLVM IR is read: every function that it calls and does not contain is listed."""

from __future__ import annotations

import re
from typing import Any

# What compiled code may call from outside: LLVM's own operations, arithmetic of the C library, numba's neighbour of a
# number.  None of them touches the heap.
HARMLESS = re.compile(
    r"llvm\.|(sqrt|pow|exp|log|sin|cos|tan|a(sin|cos|tan2?)|fabs|floor|ceil|fmod|copysign|hypot)$|numba_nextafter$"
)
_DEFINITION = re.compile(r'^define[^@\n]*@(?:"(?P<quoted>[^"]+)"|(?P<plain>[\w.$]+))\((?P<body>.*?)^}', re.M | re.S)
_CALL = re.compile(r'\b(?:call|invoke)\b[^@\n]*@(?:"([^"]+)"|([\w.$]+))\(')
# numba's own entries from Python: they unpack arguments before, and pack the result after, what is looked at here.
_WRAPPERS = ("_ZN7cpython", "cfunc.")


def outside_calls(function: Any, signature: Any) -> set[str]:
    """Names of the functions outside that compiled code calls, other than harmless ones.

    Parameters
    ----------
    function : numba dispatcher
        It is compiled anew: numba does not show the code of functions that come from its cache.
    signature : tuple of numba types

    Notes
    -----
    Calls through an address, which is how a user's own joint is called, have no name and are not looked at.
    """
    anew = type(function)(function.py_func, targetoptions=dict(function.targetoptions))
    anew.compile(signature)
    text = "\n".join(anew.inspect_llvm().values())
    bodies = {match["quoted"] or match["plain"]: match["body"] for match in _DEFINITION.finditer(text)}
    inside = {name: body for name, body in bodies.items() if not name.startswith(_WRAPPERS)}
    called = {quoted or plain for body in inside.values() for quoted, plain in _CALL.findall(body)}
    return {name for name in called - bodies.keys() if not HARMLESS.match(name)}
