"""The text of a model's file: read without risk, with the line of each entry; written in one layout."""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from runtime.support.errors import ModelError, one_line, shown
from runtime.support.files import read_file

DEEPEST = 64  # lists and objects in each other
WIDTH = 120  # characters of a line that is written
DIGEST = "digest"  # key of the digest of all other entries
TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],:]|[^\s{}\[\],:"]+', re.DOTALL)
Path_ = tuple[str | int, ...]  # keys and places from the top to an entry
SINGULAR = {
    "bodies": "body", "joints": "joint", "limits": "limit", "loads": "load", "motors": "motor", "contacts": "contact",
    "forces": "force", "shapes": "shape",
}  # fmt: skip


@dataclass(frozen=True, eq=False)
class Document:
    """A file that was read: its name, its text and its value."""

    file: str
    text: str
    value: dict[str, Any]

    def error(self, path: Path_, message: str) -> ModelError:
        """An error at an entry, with its line."""
        return ModelError(f"{self.file}, line {line_of(self.text, path)}: {message}")

    @contextmanager
    def at(self, path: Path_) -> Iterator[None]:
        """Give errors inside the block the file and the line of an entry."""
        try:
            yield
        except ModelError as error:
            raise self.error(path, str(error)) from None

    def name_of(self, path: Path_) -> str:
        """An entry in words, such as "joint 'ankle': values.l"."""
        section, *rest = path or ("",)
        if not rest or not isinstance(rest[0], int):
            return ".".join(map(str, path)) or "the file"
        item = self.value[str(section)][rest[0]]
        name = item.get("name") if isinstance(item, dict) else None
        noun = SINGULAR.get(str(section), str(section))
        first = f"{noun} '{one_line(name)}'" if isinstance(name, str) else f"{noun} {rest[0] + 1}"
        return first + (f": {'.'.join(map(str, rest[1:]))}" if rest[1:] else "")


def read_document(file: Path) -> Document:
    """Read a file of JSON.

    Raises
    ------
    ModelError
        For a file that cannot be read, is too large or no JSON, or holds a key twice or a number that is not finite.
    """
    return document_of(file.name, read_file(file, smaller="leave out meshes or shorten signals"))


def document_of(name: str, data: bytes) -> Document:
    """The document of a file's content.  Raises as ``read_document`` does."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ModelError(f"{name}: no text in UTF-8, byte {error.start}; save it in UTF-8") from None
    _refuse_depth(name, text)
    try:
        value = json.loads(
            text, object_pairs_hook=_object, parse_constant=_refuse, parse_float=_number, parse_int=_number
        )
    except json.JSONDecodeError as error:
        raise ModelError(f"{name}, line {error.lineno}: no JSON: {error.msg}; correct the file") from None
    except _RefusedText as refused:
        raise ModelError(f"{name}, line {_line_of_token(text, refused.token, refused.nth)}: {refused}") from None
    if not isinstance(value, dict):
        raise ModelError(f"{name}, line 1: {shown(value)} is no object; begin the file with {{")
    return Document(name, text, value)


class _RefusedText(Exception):
    def __init__(self, message: str, token: str, nth: int = 1) -> None:
        super().__init__(message)
        self.token, self.nth = token, nth


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise _RefusedText(f"the key {shown(key)} is given twice in one object; keep one", json.dumps(key), 2)
        found[key] = value
    return found


def _refuse(text: str) -> Any:
    raise _RefusedText(f"{text} is no finite number; give finite numbers", text)


def _number(text: str) -> float | int:
    """A number of the file: an int where no digit is lost, else a float."""
    if len(text) < 16 and text.lstrip("-").isdigit() and text != "-0":
        return int(text)
    value = float(text)
    if not math.isfinite(value):
        _refuse(text if len(text) < 40 else text[:40])
    return value


def _refuse_depth(name: str, text: str) -> None:
    depth = 0
    for token in TOKEN.finditer(text):
        depth += (token[0] in "{[") - (token[0] in "}]") if len(token[0]) == 1 else 0
        if depth > DEEPEST:
            line = _line(text, token.start())
            raise ModelError(f"{name}, line {line}: lists in each other deeper than {DEEPEST}; flatten the file")


def _line(text: str, place: int) -> int:
    return text.count("\n", 0, place) + 1


def _line_of_token(text: str, token: str, nth: int) -> int:
    places = [found.start() for found in TOKEN.finditer(text) if found[0].startswith(token)]
    return _line(text, places[min(nth, len(places)) - 1]) if places else 1


def line_of(text: str, path: Path_) -> int:
    """The line of an entry, by keys and places from the top; that of the last entry above it which exists."""
    keys: list[str | int | None] = []  # of the open objects and lists
    best, depth = 0, -1
    for token in TOKEN.finditer(text):
        word = token[0]
        if word in ("}", "]"):
            keys.pop()
        elif word == ",":
            keys[-1] = keys[-1] + 1 if isinstance(keys[-1], int) else None
        elif word != ":":
            if word[0] == '"' and keys and keys[-1] is None:
                keys[-1] = json.loads(word, strict=False)
                continue
            if depth < len(keys) <= len(path) and tuple(keys) == path[: len(keys)]:
                best, depth = token.start(), len(keys)
                if depth == len(path):
                    break
            if word in ("{", "["):
                keys.append(None if word == "{" else 0)
    return _line(text, best)


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
