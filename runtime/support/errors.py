"""The errors and warnings that users see: each names the object, the rule, its value and limit, and the remedy, in a line."""

from __future__ import annotations

import re
import sys
import traceback
import warnings
from collections.abc import Collection
from pathlib import Path
from types import FunctionType, MethodType, ModuleType
from typing import Any
from unicodedata import category

MOST_NAMES = 30  # in a message
SHAPE = "has the shape"  # begins a reason
ACCEPTED = "; check_units=False accepts it"  # ends refusals of values that are probably in another unit
USED = "; the value is used as it is, and check_units=False gives no warning"  # ends warnings of these
LONGEST, QUOTED = 800, 160  # characters of a message, and of a text that it quotes, such as a name or a line of a file
# Former names and those that took their place, for one release.
RENAMED = {
    "creep": "transition_velocity", "least_impact": "min_impact_speed", "printed": "as_published",
    "angles": "initial_coordinates", "rest": "at_rest", "crossing": "zero_crossing", "in_batch": "vectorised",
    "passages": "singular_passages", "undetermined": "undetermined_reactions",
}  # fmt: skip
QUOTES = re.compile(r"(?<!\w)('[^']*'|\"[^\"]*\")(?!\w)")


def shortened(text: str, longest: int = 60) -> str:
    """A text in one line of at most so many characters, without its middle if it is longer."""
    text, end = one_line(text), longest // 3
    return text if len(text) <= longest else f"{text[: longest - end - 5]} ... {text[-end:]}"


class ModelError(ValueError):
    """A model, a state or an argument that breaks a rule.  Nothing was changed."""

    def __init__(self, message: str = "") -> None:
        text = QUOTES.sub(lambda quoted: shortened(quoted[0], QUOTED), str(message))
        super().__init__(shortened(text, LONGEST))


class ArgumentError(ModelError, TypeError):
    """A call with an argument that is missing or unknown."""


class UnknownNameError(ModelError, KeyError):
    """A name that does not exist; the message gives the nearest one and lists those that exist."""

    __str__ = Exception.__str__  # that of KeyError is the repr of the message


class AssemblyError(ModelError):
    """The constraints cannot be met from the given configuration or velocities."""


class AssemblyWarning(UserWarning):
    """A system that was built, but not as its data say: bodies were moved, velocities changed, or a closed loop is locked."""


class UnitWarning(UserWarning):
    """A value that looks as if it was given in another unit; it is used as it is."""


class StaleKernelsError(RuntimeError, SystemExit):
    """Kernels are edited, incomplete or older than the definitions.  Uncaught, it ends the program with exit code 3."""

    code = 3


def warn(sentence: str, category: type[UserWarning] = AssemblyWarning) -> None:
    """Give a warning whose place is the line outside of ``runtime`` that led to it."""
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == "runtime":
        level, frame = level + 1, frame.f_back
    warnings.warn(one_line(sentence), category, stacklevel=level)


class Refused(Exception):
    """What is wrong with a value, and what to do about it if that is known; the caller names the argument."""

    def __init__(self, reason: str = "", remedy: str = "") -> None:
        super().__init__(reason)
        self.reason, self.remedy = reason, remedy

    def sentence(self, what: str, value: Any, words: str) -> str:
        """The sentence about an argument; ``words``: what to give."""
        remedy = self.remedy or f"give {words}"
        if self.reason.startswith(SHAPE):
            return f"{what} {self.reason}; {remedy}"
        if self.reason:
            return f"{what} = {shown(value)} {self.reason}; {remedy}"
        return f"{what} = {shown(value)}{';' if self.remedy else ':'} {remedy}"


def one_line(text: str) -> str:
    """The text with every character that is not printable, line breaks among them, as its escape."""
    return text if text.isprintable() else "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)


def printable(text: str) -> str:
    """The text with what moves a terminal's cursor or turns the direction of reading as its escape; line breaks stay."""
    return text if text.isprintable() else "".join(ascii(c)[1:-1] if _steers(c) else c for c in text)


def _steers(c: str) -> bool:
    return c != "\n" and category(c) in ("Cc", "Cf", "Cs", "Zl", "Zp")


def said_by(error: BaseException) -> str:
    """What an error in code of the user says, in a line, with the file and line where it was raised."""
    try:
        text = one_line(f"{type(error).__name__}: {error}".removesuffix(": "))
    except Exception:  # its text is code of the user too
        text = type(error).__name__
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if Path(frame.filename).is_file()]
    if isinstance(error, SyntaxError) or not frames:
        return text  # the text names the place
    return f"{text} ({Path(frames[-1].filename).name}, line {frames[-1].lineno})"


def shown(value: Any) -> str:
    """A value for a message: its repr, in one line, with long ones shortened; an object without a usable repr by its class."""
    from reprlib import Repr

    short = Repr()
    short.maxstring = short.maxother = short.maxlong = 80
    short.maxdict = short.maxlevel = 3
    try:
        if isinstance(value, FunctionType | MethodType):
            return name_of_function(value)
        if isinstance(value, ModuleType):
            return f"module {value.__name__}"
        text = short.repr(value)
    except Exception:  # whatever a foreign object raises
        text = f"<{type(value).__name__}>"
    return one_line(" ".join(text.split()))


def name_of_function(value: Any) -> str:
    """``module.function``; in a script the function alone."""
    module = str(getattr(value, "__module__", None) or "")  # None of a function that ``exec`` made
    return one_line(("" if module in ("__main__", "builtins", "") else f"{module}.") + value.__qualname__)


def unknown_name(name: Any, known: Collection[Any], what: str, several: str = "", whose: str = "") -> UnknownNameError:
    """The error for a name that does not exist.

    Parameters
    ----------
    name : str, or what was given instead of one
    known : collection of str
        The names that exist.
    what, several : str
        The noun in singular and plural; default: with an "s".
    whose : str
        Beginning of the message, such as "joint 'ankle': ".
    """
    names = [str(one) for one in known]
    text = f"'{one_line(name)}'" if isinstance(name, str) else shown(name)
    near = nearest(name, names)
    guess, of = f"; did you mean '{near}'?" if near else ";", several or what + "s"
    listed = ", ".join(names[:MOST_NAMES]) or "none"
    more = f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else ""
    return UnknownNameError(f"{whose}unknown {what} {text}{guess} the {of} are {listed}{more}")


def did_you_mean(name: Any, known: Collection[str]) -> str:
    """A part of a message that offers the nearest name; "" if none is near."""
    near = nearest(name, known)
    return f"did you mean '{near}'? " if near else ""


def nearest(name: Any, known: Collection[str]) -> str:
    """The name that was probably meant, such as the new one of a former name; "" if none is near."""
    if not isinstance(name, str):
        return ""
    former, dot, owner = name.partition(".")
    if (now := f"{RENAMED.get(former)}{dot}{owner}") in known:
        return now
    # "ankle.theta_i" means "angle.ankle.theta_i" rather than "rate.ankle.theta_i", which has more letters in common with it.
    for one in known:
        if one.endswith(f".{name}") or name.endswith(f".{one}"):
            return one
    from difflib import get_close_matches  # only errors need it

    plain = {_plain(one): one for one in known}
    found = get_close_matches(_plain(name[:100]), plain, n=1, cutoff=0.6)
    return plain[found[0]] if found else ""


def _plain(name: str) -> str:
    """A name without what is easily mistaken: capitals, underscores, hyphens and spaces."""
    return "".join(c for c in name.casefold() if c not in "_- ")
