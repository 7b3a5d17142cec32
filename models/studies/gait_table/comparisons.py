"""Comparisons of two groups or two conditions: which the table offers or the user wants, and their tests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from models.walking.curve_tests import CurveTest, missing
from models.walking.cycle_curves import QUANTITIES
from models.walking.subject_curves import Foot, SubjectMean, Subjects
from models.walking.subject_table import SubjectTable
from runtime import ModelError


@dataclass(frozen=True, eq=False)
class Comparison:
    """Two sets of subjects, and a test for each quantity; ``number`` counts the comparisons of a report from 1."""

    number: int
    first: str
    second: str
    within: str
    sets: tuple[Sequence[SubjectMean], Sequence[SubjectMean]]
    tests: Mapping[str, CurveTest]

    @property
    def text(self) -> str:
        """Both sets in words."""
        return f"{self.first} and {self.second}" + (f" in {self.within}" if self.within else "")

    @property
    def name(self) -> str:
        """Of the table and of the files."""
        return f"comparison {self.number}"


def wanted(table: SubjectTable, compare: str | None) -> tuple[str, str] | None:
    """The two groups or conditions that the user names.

    Raises
    ------
    ModelError
        If they are no two groups and no two conditions of the table, or spm1d is missing.
    """
    if compare is None:
        return None
    if why := missing():
        raise ModelError(f"compare = {compare!r}: {why}")
    names = [name.strip() for name in compare.split(",")]
    groups, conditions = (
        list(dict.fromkeys(getattr(row, what) for row in table.rows)) for what in ("group", "condition")
    )
    if len(names) == 2 and names[0] != names[1]:
        for known in (groups, conditions):
            if all(name and name in known for name in names):
                return names[0], names[1]
    has = [
        f"the {what} are {', '.join(known)}"
        for what, known in (("groups", groups), ("conditions", conditions))
        if any(known)
    ]
    raise ModelError(
        f"compare = {compare!r}: give two groups or two conditions of the table as A,B; "
        f"{'; '.join(has) or 'it has neither: add a column group or condition'}"
    )


def compared(
    people: Subjects, pair: tuple[str, str] | None, foot: Foot, alpha: float
) -> tuple[list[Comparison], list[str]]:
    """The comparisons, and why others are left out."""
    results, left_out = [], []
    choices = people.comparisons() if pair is None else _of_pair(people, pair)
    if pair is not None and not choices:
        left_out.append(f"{' and '.join(pair)} are not compared: no subject of one of them could be used")
    for what, names in (("groups", people.groups), ("conditions", people.conditions)):
        if pair is None and len(names) > 2:
            left_out.append(
                f"no comparison of {what}: the table has {len(names)}, {', '.join(names)}; name two with compare="
            )
    if choices and (why := missing()):
        return [], [*left_out, why]
    for choice in choices:
        first, second = choice.get("groups") or choice["conditions"]
        sets = people.compared(**choice, foot=foot)
        tests: dict[str, CurveTest] = {}
        reasons: dict[str, str] = {}
        for name in people.quantities:
            try:
                tests[name] = people.compare(name, **choice, foot=foot, alpha=alpha)
            except ModelError as error:
                reasons[name] = str(error)
        of = f"{first} and {second}" + (f" in {choice['within']}" if choice["within"] else "")
        if not tests:
            left_out.append(f"{of} are not compared: {'; '.join(dict.fromkeys(reasons.values()))}")
            continue
        left_out += [f"{of}: {QUANTITIES[name].title} is not compared: {why}" for name, why in reasons.items()]
        results.append(Comparison(len(results) + 1, first, second, choice["within"] or "", sets, tests))
    return results, left_out


def _of_pair(people: Subjects, pair: tuple[str, str]) -> list[dict[str, Any]]:
    """Keywords of the comparisons of two names."""
    if all(name in people.groups for name in pair):
        return [{"groups": pair, "within": within} for within in people.conditions or (None,)]
    if all(name in people.conditions for name in pair):
        return [{"conditions": pair, "within": within} for within in people.groups or (None,)]
    return []
