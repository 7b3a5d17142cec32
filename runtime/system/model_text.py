"""The text of a model's file: read without risk, and written in one layout."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from runtime.support.errors import ModelError, shown
from runtime.support.files import read_file

WIDTH = 120  # characters of a line that is written
DIGEST = "digest"  # key of the digest of all other entries


@dataclass(frozen=True, eq=False)
class Document:
    """A file that was read: its name and its value."""

    file: str
    value: dict[str, Any]

    def error(self, message: str) -> ModelError:
        """An error of the file."""
        return ModelError(f"{self.file}: {message}")

    @contextmanager
    def errors(self) -> Iterator[None]:
        """Give errors inside the block the name of the file."""
        try:
            yield
        except ModelError as error:
            raise self.error(str(error)) from None
        except Exception as error:  # an entry of another type than the schema states
            says = f"{type(error).__name__}: {error}"
            raise self.error(f"an entry is not as model.schema.json states ({says}); correct the file") from None


def read_document(file: Path) -> Document:
    """Read a file of JSON.

    Raises
    ------
    ModelError
        For a file that cannot be read, is too large or no JSON, or holds a key twice or a number that is not finite.
    """
    name, data = file.name, read_file(file, smaller="leave out meshes or shorten signals")
    try:
        value = json.loads(
            data.decode("utf-8"),
            object_pairs_hook=_object,
            parse_constant=_number,
            parse_float=_number,
            parse_int=_number,
        )
    except UnicodeDecodeError as error:
        raise ModelError(f"{name}: no text in UTF-8, byte {error.start}; save it in UTF-8") from None
    except json.JSONDecodeError as error:
        raise ModelError(f"{name}, line {error.lineno}: no JSON: {error.msg}; correct the file") from None
    except ModelError as error:
        raise ModelError(f"{name}: {error}") from None
    except RecursionError:
        raise ModelError(f"{name}: lists in each other are too deep; flatten the file") from None
    if not isinstance(value, dict):
        raise ModelError(f"{name}: {shown(value)} is no object; begin the file with {{")
    return Document(name, value)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise ModelError(f"the key {shown(key)} is given twice in one object; keep one")
        found[key] = value
    return found


def _number(text: str) -> float | int:
    """A number of the file: an int where no digit is lost, else a float."""
    if len(text) < 16 and text.lstrip("-").isdigit() and text != "-0":
        return int(text)
    value = float(text)
    if not math.isfinite(value):
        raise ModelError(f"{text[:40]} is no finite number; give finite numbers")
    return value


def digest_of(value: Mapping[str, Any]) -> str:
    """Digest of all entries but the digest itself, whatever their layout."""
    rest = {key: entry for key, entry in value.items() if key != DIGEST}
    text = json.dumps(rest, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()


def text_of(value: Mapping[str, Any]) -> str:
    """The text of a file.  Floats are written by repr, which gives the same bits when they are read."""
    return _laid_out(value, "") + "\n"


def _laid_out(value: Any, indent: str) -> str:
    """An entry in one line where it has room, else an entry of its own in each line."""
    flat = json.dumps(value, ensure_ascii=False, allow_nan=False)
    simple = not isinstance(value, Mapping | Sequence) or isinstance(value, str)
    if simple or not value or len(indent) + len(flat) <= WIDTH:
        return flat
    more = indent + " "
    if isinstance(value, Mapping):
        lines = [f"{more}{json.dumps(key, ensure_ascii=False)}: {_laid_out(v, more)}" for key, v in value.items()]
        return "{\n" + ",\n".join(lines) + f"\n{indent}}}"
    return "[\n" + ",\n".join(f"{more}{_laid_out(entry, more)}" for entry in value) + f"\n{indent}]"
