"""Files of studies (TOML), for ``talus study``: read and checked key by key; each mistake is a sentence that names the key."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from runtime.support.errors import ModelError, Refused, did_you_mean, shown
from runtime.support.files import read_file

KEYS: dict[str, Any] = {
    "model": str,
    "kind": Literal["sample", "sobol", "grid", "one_at_a_time"],
    "n": int,
    "sampler": Literal["sobol", "latin_hypercube", "random"],
    "seed": int,
    "t_end": float,
    "points": int,
    "failed": Literal["refuse", "leave_out"],
}
NEEDED = ("model", "t_end", "parameters", "outputs")
SECTIONS = ("arguments", "parameters", "outputs", "settings")
SETTINGS = (
    "method", "rtol", "atol", "t_start", "alpha", "beta", "max_step", "first_step", "max_steps", "coordinates", "assemble",
    "check_units", "chunk", "workers",
)  # fmt: skip
OPTIONS = {"normal": ("low", "high")}  # beside the arguments of a distribution
ARGUMENTS = {"uniform": 2, "log_uniform": 2, "normal": 2, "triangular": 3, "values": 0}  # numbers of each; 0: any


@dataclass(frozen=True)
class StudyFile:
    """The content of a file of a study."""

    file: Path
    text: str = field(repr=False)
    keys: Mapping[str, Any]
    arguments: Mapping[str, Any]
    parameters: Mapping[str, Any]  # name -> Distribution
    outputs: Mapping[str, str]
    settings: Mapping[str, Any]

    def placed(self, error: ModelError) -> ModelError:
        """An error of the study, with the name of the file."""
        return ModelError(f"{self.file}: {error}")


def read_study_file(file: Path) -> StudyFile:
    """Read and check a file.

    Raises
    ------
    ModelError
        Naming the file, the key, what is allowed, and the remedy.
    """
    try:
        text = read_file(file, remedy=(remedy := "give a file of a study in TOML")).decode("utf-8")
    except UnicodeDecodeError as error:
        raise ModelError(f"cannot read '{file}': {error}; {remedy}") from None
    try:
        content = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise ModelError(f"'{file}' is no TOML: {error}; correct this place") from None
    allowed = (*KEYS, *SECTIONS)
    for key in content:
        if key not in allowed:
            raise ModelError(
                f"{file}: unknown key '{key}'; {did_you_mean(key, allowed)}the keys are {', '.join(allowed)}"
            )
    if missing := [key for key in NEEDED if key not in content]:
        raise ModelError(f"{file}: '{missing[0]}' is missing; a study needs {', '.join(NEEDED)}")
    for section in SECTIONS:
        if not isinstance(content.get(section, {}), dict):
            raise ModelError(f"{file}: '{section}' = {shown(content[section])}; give a table, [{section}]")
    keys = {key: _checked(file, key, value) for key, value in content.items() if key in KEYS}
    settings = content.get("settings", {})
    for key in settings:
        if key not in SETTINGS:
            raise ModelError(
                f"{file}: [settings]: unknown setting '{key}'; {did_you_mean(key, SETTINGS)}the settings are "
                f"{', '.join(SETTINGS)}"
            )
    parameters = {
        name: _distribution(f"{file}: [parameters]", name, given)
        for name, given in _leaves(content["parameters"], {*ARGUMENTS, "low", "high"})
    }
    outputs = dict(_leaves(content["outputs"], ()))
    for name, given in outputs.items():
        if not isinstance(given, str):
            raise ModelError(
                f"{file}: [outputs]: output '{name}' = {shown(given)}; give a text, such as \"range(r.main_foot.y)\""
            )
    return StudyFile(file, text, keys, content.get("arguments", {}), parameters, outputs, settings)


def _checked(file: Path, key: str, value: Any) -> Any:
    """The value of a key at the top of the file, as arguments of public functions are checked."""
    from runtime.support.kinds import kind_of

    kind = kind_of(KEYS[key])
    assert kind is not None
    try:
        found = kind.admit(value)
    except Refused as refused:
        raise ModelError(refused.sentence(f"{file}: {key}", value, kind.words)) from None
    if key == "points" and found < 2:
        raise ModelError(f"{file}: points = {found}; give the number of times of the results, 2 or more")
    return found


def _leaves(table: Mapping[str, Any], ends: Any, before: str = "") -> Iterator[tuple[str, Any]]:
    """Entries by their whole names: mass.toes without quotes is a table in a table.  ``ends``: keys of tables that are values."""
    for key, value in table.items():
        name = f"{before}.{key}" if before else key
        if isinstance(value, dict) and value and not set(value) & set(ends):
            yield from _leaves(value, ends, name)
        else:
            yield name, value


def _distribution(at: str, name: str, given: Any) -> Any:
    """The distribution of a parameter: [low, high], or a table with one of the names."""
    from runtime.studies.distributions import BY_NAME

    forms = "give [low, high], or {uniform = [low, high]}, " + ", ".join(
        f"{{{one} = [...]}}" for one in list(ARGUMENTS)[1:]
    )
    if isinstance(given, list):
        given = {"uniform": given}
    if not isinstance(given, dict) or len(kinds := [key for key in given if key in ARGUMENTS]) != 1:
        raise ModelError(f"{at}: '{name}' = {shown(given)}; {forms}")
    (kind,) = kinds
    numbers, options = given[kind], {key: value for key, value in given.items() if key != kind}
    if other := [key for key in options if key not in OPTIONS.get(kind, ())]:
        raise ModelError(f"{at}: '{name}' has the unknown key '{other[0]}'; {forms}")
    count = ARGUMENTS[kind]
    if not isinstance(numbers, list) or (count and len(numbers) != count):
        wanted = f"{count} numbers" if count else "a list"
        raise ModelError(f"{at}: '{name}': {kind} = {shown(numbers)}; give {wanted}, such as {kind} = [...]")
    try:
        return BY_NAME[kind](*(numbers if count else [numbers]), **options)
    except ModelError as error:
        raise ModelError(f"{at}: '{name}': {error}") from None
