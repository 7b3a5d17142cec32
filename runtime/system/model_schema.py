"""The schema of a model's file, and the check of a document against it.

``model.schema.json`` beside this module is a JSON Schema (draft 2020-12).  The check understands the keywords that the schema
uses, and gives one sentence with the line; a library for schemas would be a dependency for everyone, and gives no lines.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from runtime.support.errors import ModelError, did_you_mean, shown
from runtime.system.model_text import Document, Path_

FILE = Path(__file__).with_name("model.schema.json")
TYPES: Mapping[str, tuple[type, ...]] = {
    "object": (dict,), "array": (list,), "string": (str,), "boolean": (bool,), "number": (int, float), "integer": (int,),
}  # fmt: skip
WORDS = {
    "object": "an object {...}", "array": "a list [...]", "string": 'a text "..."', "boolean": "true or false",
    "number": "a finite number", "integer": "a whole number",
}  # fmt: skip
Rule = Mapping[str, Any]


@cache
def schema() -> dict[str, Any]:
    """The JSON Schema of a model's file."""
    found: dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))
    return found


def check_schema(document: Document) -> None:
    """Refuse a document that the schema does not admit.

    Raises
    ------
    ModelError
        Naming the entry and its line, the rule, the value, and the nearest known key where a key is unknown.
    """
    _check(document, document.value, schema(), ())


def _resolved(rule: Rule) -> Rule:
    while "$ref" in rule:
        rule = schema()["$defs"][rule["$ref"].rpartition("/")[2]]
    return rule


def _is(value: Any, kind: str) -> bool:
    return isinstance(value, TYPES[kind]) and (kind == "boolean") == isinstance(value, bool)


def _check(document: Document, value: Any, rule: Rule, path: Path_) -> None:
    rule = _resolved(rule)
    if "anyOf" in rule:
        rule = _chosen(document, value, _alternatives(rule), path)
    kind = rule["type"]
    if not _is(value, kind):
        raise _wrong(document, path, value, f"give {WORDS[kind]}")
    if "const" in rule and value != rule["const"]:
        raise _wrong(document, path, value, f"give {shown(rule['const'])}")
    if "enum" in rule and value not in rule["enum"]:
        raise _wrong(document, path, value, f"{did_you_mean(value, rule['enum'])}use {', '.join(rule['enum'])}")
    if kind == "array":
        least, most = rule.get("minItems", 0), rule.get("maxItems")
        if len(value) < least or (most is not None and len(value) > most):
            count = f"{least} entries" if least == most else f"{least} entries or more"
            raise document.error(path, f"{document.name_of(path)} has {len(value)} entries; give {count}")
        for n, entry in enumerate(value):
            _check(document, entry, rule["items"], (*path, n))
    if kind == "object":
        _check_object(document, value, rule, path)


def _wrong(document: Document, path: Path_, value: Any, remedy: str) -> ModelError:
    return document.error(path, f"{document.name_of(path)} = {shown(value)}; {remedy}")


def _check_object(document: Document, value: dict[str, Any], rule: Rule, path: Path_) -> None:
    known, more = rule.get("properties", {}), rule.get("additionalProperties", {})
    what = document.name_of(path)
    if more is False:
        for key in value:
            if key not in known:
                near = did_you_mean(key, known)
                raise document.error(
                    (*path, key), f"{what}: unknown key {shown(key)}; {near}the keys are {', '.join(known)}"
                )
    for key in rule.get("required", ()):
        if key not in value:
            raise document.error(path, f"{what}: has no {key}; needs {', '.join(rule['required'])}")
    for key, entry in value.items():
        _check(document, entry, known.get(key, more), (*path, key))


def _alternatives(rule: Rule) -> list[Rule]:
    """All alternatives of a rule, those of its alternatives among them."""
    found = [_resolved(one) for one in rule["anyOf"]]
    return [other for one in found for other in (_alternatives(one) if "anyOf" in one else [one])]


def _chosen(document: Document, value: Any, rules: list[Rule], path: Path_) -> Rule:
    """The alternative that an entry means: the first of its type whose required keys it has, else the first of its type."""
    able = [rule for rule in rules if _is(value, rule["type"])]
    if not able:
        raise _wrong(document, path, value, f"give {' or '.join(dict.fromkeys(WORDS[r['type']] for r in rules))}")
    if isinstance(value, dict):
        return next((rule for rule in able if set(rule.get("required", ())) <= set(value)), able[0])
    return able[0]
