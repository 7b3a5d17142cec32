"""The schema of a model's file, and the check of the keys of a document against it.

``model.schema.json`` beside this module is a JSON Schema (draft 2020-12).  The builder checks the values.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from runtime.support.errors import ModelError, did_you_mean, one_line, shown

FILE = Path(__file__).with_name("model.schema.json")
Rule = Mapping[str, Any]


@cache
def schema() -> dict[str, Any]:
    """The JSON Schema of a model's file."""
    return json.loads(FILE.read_text(encoding="utf-8"))


def check_keys(value: Mapping[str, Any]) -> None:
    """Refuse unknown and missing keys of a document's value and of its parts.

    Raises
    ------
    ModelError
        Naming the part, the key, and the nearest known one.
    """
    _check("the file", value, schema())
    for section, given in value.items():
        rule = schema()["properties"][section]
        for n, item in enumerate(given if "items" in rule else ()):
            if not isinstance(item, dict):
                raise ModelError(f"{section}: {shown(item)}; give an object {{...}}")
            name = one_line(str(item.get("name", n + 1)))
            _check(f"{section}: '{name}'", item, _rule_of(rule["items"], item))


def _rule_of(rule: Rule, item: Mapping[str, Any]) -> Rule:
    """The rule of a part; of alternatives the one whose keys it has, else the first."""
    rule = schema()["$defs"][rule["$ref"].rpartition("/")[2]]
    alternatives = rule.get("anyOf", [rule])
    return next((one for one in alternatives if set(one["required"]) <= set(item)), alternatives[0])


def _check(what: str, value: Mapping[str, Any], rule: Rule) -> None:
    known = rule["properties"]
    for key in value:
        if key not in known:
            near = did_you_mean(key, known)
            raise ModelError(f"{what}: unknown key {shown(key)}; {near}the keys are {', '.join(known)}")
    if missing := [key for key in rule["required"] if key not in value]:
        raise ModelError(f"{what}: has no {missing[0]}; needs {', '.join(rule['required'])}")
