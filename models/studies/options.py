"""Values of the options of studies."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from models.foot_orthosis import PRESETS
from models.walking.static_optimisation import COSTS, check_cost
from runtime import ModelError
from runtime.support import read_file

MAX_CASES = 500  # of a study; a run takes about 10 ms, its output a megabyte


def numbers(option: str, text: str) -> tuple[float, ...]:
    """Values of an option: separated by commas, or FIRST:LAST:COUNT, evenly spaced.

    Raises
    ------
    ModelError
    """
    parts = text.split(":") if ":" in text else text.split(",")
    try:
        found = tuple(float(part) for part in parts)
    except ValueError:
        found = ()
    if ":" in text:
        if len(found) != 3 or not (found[2].is_integer() and 2 <= found[2] <= MAX_CASES):
            raise ModelError(f"{option} = {text!r}; give FIRST:LAST:COUNT, with a COUNT of 2 to {MAX_CASES}")
        found = tuple(float(value) for value in np.linspace(*found[:2], int(found[2])))
    if not found or not np.isfinite(found).all():
        raise ModelError(f"{option} = {text!r}; give numbers, such as 30,42,60, or FIRST:LAST:COUNT")
    if len(set(found)) < len(found):
        raise ModelError(f"{option} = {text!r}; give each value once")
    return found


def orthosis_option(text: str) -> str | dict[str, Any]:
    """What ``orthosis_values`` takes: the name of a preset, or the keywords of ``Builder.orthosis`` in a .toml file.

    Raises
    ------
    ModelError
    """
    if not text.endswith(".toml"):
        if text not in PRESETS:
            raise ModelError(
                f"orthosis = {text!r} is no preset; use {', '.join(PRESETS)}, or a .toml file with the keywords of "
                "Builder.orthosis, such as stiffness = [200, 40, 17]"
            )
        return text
    data = read_file(Path(text), remedy="give a .toml file with the keywords of Builder.orthosis")
    try:
        return tomllib.loads(data.decode("utf-8"))
    except (ValueError, RecursionError) as error:  # of TOML and of UTF-8
        raise ModelError(f"orthosis = {text!r}: {error}; write lines such as stiffness = [200, 40, 17]") from None


def labels_option(given: Sequence[str] | None, what: str, form: str) -> dict[str, str]:
    """Labels of a trial by markers of a model, landmarks or muscles, from texts such as "heel=RHEE"; ``form``: of these texts.

    Raises
    ------
    ModelError
    """
    found = {}
    for text in given or ():
        name, equals, label = (part.strip() for part in text.partition("="))
        if not (name and equals and label):
            raise ModelError(f"{what} = {text!r}: give {form}")
        found[name] = label
    return found


def landmarks_option(given: Sequence[str] | None, what: str) -> dict[str, str]:
    """Labels of a trial by landmark, from LANDMARK=LABEL."""
    return labels_option(given, what, "LANDMARK=LABEL, such as heel=RHEE")


def channels_option(given: Sequence[str] | None) -> dict[str, str]:
    """Labels of channels by muscle, from MUSCLE=LABEL."""
    return labels_option(given, "channels", "MUSCLE=LABEL, such as soleus_r=EMG1")


def refuse_unused(unused: bool, why: str, **options: Any) -> None:
    """Refuse options that would be ignored; ``why``: with {} for their names.

    Raises
    ------
    ModelError
    """
    for name, value in options.items():
        if unused and value is not None:
            raise ModelError(why.format(name.replace("_", "-")))


def refuse_without_muscles(muscles: bool, **options: Any) -> None:
    """Refuse options of muscles where these are not asked for.

    Raises
    ------
    ModelError
    """
    refuse_unused(not muscles, "--{} belongs to muscles; give --muscles too, or leave it out", **options)


def cost_of(cost: str | None, exponent: float | None, passive: bool) -> dict[str, Any]:
    """Options of static optimisation.

    Raises
    ------
    ModelError
    """
    options: dict[str, Any] = dict(cost=cost or COSTS[0], exponent=2.0 if exponent is None else exponent)
    check_cost(**options)
    return options | {"passive": passive}
