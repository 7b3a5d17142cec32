"""The curves of many subjects as tables: trials, means of subjects and of groups, comparisons along the gait cycle."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from models.walking.curve_tests import CurveTest, compare_curves
from models.walking.cycle_curves import QUANTITIES
from models.walking.gait_result import PERCENT
from models.walking.subject_table import SubjectTable
from runtime import ModelError
from runtime.support import checked_class
from runtime.support.arrays import Floats

Foot = Literal["right", "left", "mean"]
FEET: tuple[Foot, ...] = ("right", "left", "mean")
TOES = "metatarsophalangeal_angle"


@dataclass(frozen=True, eq=False)
class TrialCurves:
    """One foot of one trial: curves (101,) by name of the quantity, values by name, foot off [%], caveat of the toes."""

    subject: str
    group: str
    condition: str
    trial: str
    side: str
    curves: Mapping[str, Floats]
    values: Mapping[str, float]
    toe_off: float
    toe_caveat: str = ""


@dataclass(frozen=True)
class UsedTrial:
    """Whether a foot of a trial was used, and why not; ``side`` is "both" where neither foot was."""

    subject: str
    group: str
    condition: str
    trial: str
    side: str
    used: bool
    reason: str


@dataclass(frozen=True, eq=False)
class SubjectMean:
    """Mean curves and values of one subject in one condition, over trials, of one foot or over both."""

    subject: str
    group: str
    condition: str
    trials: int
    curves: Mapping[str, Floats]
    values: Mapping[str, float]
    toe_off: float


@checked_class
@dataclass(frozen=True, eq=False)
class Subjects:
    """Trials of many subjects.

    A subject counts once in each mean and in each comparison: with the mean of its trials, and for ``foot="mean"`` the mean of
    its feet.

    Attributes
    ----------
    table : SubjectTable
    analysed : tuple of TrialCurves
        One for each foot of each trial.
    used : tuple of UsedTrial
        Every foot of every trial, used or not, with the reason.
    failures : tuple of str
        A sentence for each trial and each subject that was not used.
    notes : tuple of str
        Every assumption that was not read from a file.
    """

    table: SubjectTable
    analysed: tuple[TrialCurves, ...]
    used: tuple[UsedTrial, ...]
    failures: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"Subjects({len({one.subject for one in self.analysed})} subjects, {len(self.analysed)} feet of trials)"

    @property
    def quantities(self) -> tuple[str, ...]:
        """Names of the curves that all trials have."""
        return tuple(name for name in QUANTITIES if all(name in one.curves for one in self.analysed))

    @property
    def caveats(self) -> dict[str, str]:
        """Warnings on curves, by name: upper bounds, and angles of the toes that follow from one marker."""
        found = {name: QUANTITIES[name].caveat for name in self.quantities if QUANTITIES[name].caveat}
        of_toes = dict.fromkeys(one.toe_caveat for one in self.analysed if one.toe_caveat)
        if TOES in self.quantities and of_toes:
            found[TOES] = "; ".join(of_toes)
        return found

    def _attributes(self, name: str) -> dict[str, str]:
        """Unit, title and caveat of a curve."""
        comment = {"comment": caveat} if (caveat := self.caveats.get(name)) else {}
        return {"units": QUANTITIES[name].unit, "long_name": QUANTITIES[name].title, **comment}

    @property
    def groups(self) -> tuple[str, ...]:
        """Names of the groups in the order of the table; empty where it has none."""
        return self._names("group")

    @property
    def conditions(self) -> tuple[str, ...]:
        """Names of the conditions in the order of the table; empty where it has none."""
        return self._names("condition")

    def _names(self, what: str) -> tuple[str, ...]:
        return tuple(dict.fromkeys(name for one in self.analysed if (name := getattr(one, what))))

    def sets(self) -> tuple[tuple[str, str], ...]:
        """Group and condition of each set of subjects that has a mean of its own; "" where the table has none."""
        return tuple(dict.fromkeys((one.group, one.condition) for one in self.analysed))

    def means_of_subjects(self, foot: Foot = "mean") -> list[SubjectMean]:
        """Mean of each subject in each condition over its trials: of one foot, or the mean over its feet."""
        found = []
        for key in dict.fromkeys((one.subject, one.group, one.condition) for one in self.analysed):
            own = [one for one in self.analysed if (one.subject, one.group, one.condition) == key]
            sides = ("right", "left") if foot == "mean" else (foot,)
            feet = [trials for side in sides if (trials := [one for one in own if one.side == side])]
            if not feet:
                continue
            curves = {
                name: np.mean([np.mean([one.curves[name] for one in trials], axis=0) for trials in feet], axis=0)
                for name in self.quantities
            }
            values = {
                name: _mean([_mean([one.values[name] for one in trials]) for trials in feet]) for name in own[0].values
            }
            toe_off = _mean([_mean([one.toe_off for one in trials]) for trials in feet])
            count = len({one.trial for trials in feet for one in trials})
            found.append(SubjectMean(*key, count, curves, values, toe_off))
        return found

    def members(self, group: str | None = None, condition: str | None = None, foot: Foot = "mean") -> list[SubjectMean]:
        """Means of the subjects of a group and a condition; None: of any.

        Raises
        ------
        ModelError
            If there is no such group or condition.
        """
        for name, known, what in ((group, self.groups, "group"), (condition, self.conditions, "condition")):
            if name and name not in known:
                raise ModelError(f"unknown {what} '{name}'; the {what}s are {', '.join(known) or 'none'}")
        return [
            one
            for one in self.means_of_subjects(foot)
            if group in (None, one.group) and condition in (None, one.condition)
        ]

    def compare(
        self,
        quantity: str,
        *,
        groups: tuple[str, str] | None = None,
        conditions: tuple[str, str] | None = None,
        within: str | None = None,
        foot: Foot = "mean",
        alpha: float = 0.05,
    ) -> CurveTest:
        """Compare two groups (unpaired) or two conditions (paired) along the gait cycle, see ``compare_curves``.

        Parameters
        ----------
        quantity : str
            One of ``quantities``, such as "talocrural_angle".
        groups, conditions : (str, str)
            One of the two; of conditions only subjects with both enter.
        within : str, optional
            The condition in which groups are compared, or the group in which conditions are.
        foot : "right", "left" or "mean"
        alpha : float

        Raises
        ------
        ModelError
        """
        a, b = self.compared(groups=groups, conditions=conditions, within=within, foot=foot)
        if quantity not in self.quantities:
            raise ModelError(f"unknown quantity '{quantity}'; the quantities are {', '.join(self.quantities)}")
        first, second = (np.array([one.curves[quantity] for one in members]) for members in (a, b))
        return compare_curves(first, second, paired=groups is None, alpha=alpha)

    def compared(
        self,
        *,
        groups: tuple[str, str] | None = None,
        conditions: tuple[str, str] | None = None,
        within: str | None = None,
        foot: Foot = "mean",
    ) -> tuple[list[SubjectMean], list[SubjectMean]]:
        """The subjects of both sides of a comparison; of conditions in the same order."""
        if (groups is None) == (conditions is None):
            raise ModelError("compare: give either groups=(A, B) or conditions=(A, B)")
        if groups is not None:
            if within is None and len(self.conditions) > 1:
                raise ModelError(f"compare: give within=, one of the conditions {', '.join(self.conditions)}")
            one, other = (self.members(group, within, foot) for group in groups)
            return one, other
        one, other = (self.members(within, condition, foot) for condition in conditions or ())
        both = [a.subject for a in one if any(a.subject == b.subject for b in other)]
        of = [{member.subject: member for member in members} for members in (one, other)]
        return [of[0][name] for name in both], [of[1][name] for name in both]

    def comparisons(self) -> list[dict[str, Any]]:
        """Keywords of ``compare`` for what the table offers: two groups in each condition, two conditions in each group."""
        found: list[dict[str, Any]] = []
        if len(self.groups) == 2:
            found += [{"groups": self.groups, "within": within} for within in self.conditions or (None,)]
        if len(self.conditions) == 2:
            found += [{"conditions": self.conditions, "within": within} for within in self.groups or (None,)]
        return found

    def to_xarray(self) -> Any:
        """All curves as an xarray Dataset with dimensions trial and percent; subject, group and so on are coordinates."""
        import xarray

        data: dict[str, Any] = {
            name: (
                ("trial", "percent"),
                np.array([one.curves[name] for one in self.analysed]),
                self._attributes(name),
            )
            for name in self.quantities
        }
        data["toe_off"] = (("trial",), np.array([one.toe_off for one in self.analysed]), {"units": "percent"})
        coordinates: dict[str, Any] = {
            name: ("trial", [getattr(one, name) for one in self.analysed])
            for name in ("subject", "group", "condition", "side")
        }
        coordinates |= {"file": ("trial", [one.trial for one in self.analysed])}
        coordinates["percent"] = ("percent", PERCENT, {"units": "percent of the gait cycle"})
        return xarray.Dataset(data, coords=coordinates, attrs={"notes": "\n".join(self.notes)})

    def means_to_xarray(self, foot: Foot = "mean") -> Any:
        """Mean and standard deviation over the subjects of each set: dimensions set, statistic and percent."""
        import xarray

        sets = self.sets()
        data: dict[str, Any] = {}
        members = [self.members(*one, foot=foot) for one in sets]
        for name in self.quantities:
            values = [mean_and_sd([one.curves[name] for one in own]) for own in members]
            data[name] = (("set", "statistic", "percent"), np.array(values), self._attributes(name))
        data["subjects"] = (("set",), np.array([len(own) for own in members]), {})
        coordinates = {
            "group": ("set", [group for group, _ in sets]),
            "condition": ("set", [condition for _, condition in sets]),
            "statistic": ["mean", "SD"],
            "percent": ("percent", PERCENT, {"units": "percent of the gait cycle"}),
        }
        return xarray.Dataset(data, coords=coordinates, attrs={"foot": foot})

    def to_pandas(self) -> Any:
        """A row for each foot of each trial, with peaks and spatiotemporal parameters, or the reason why it was not used."""
        import pandas

        values = {(one.subject, one.condition, one.trial, one.side): one.values for one in self.analysed}
        rows = [
            {**vars(one), **(values.get((one.subject, one.condition, one.trial, one.side), {}) if one.used else {})}
            for one in self.used
        ]
        return pandas.DataFrame(rows)


def mean_and_sd(curves: Sequence[Floats]) -> tuple[Floats, Floats]:
    """Mean and standard deviation (m,) of curves; NaN where there is none, and of the latter where there is one."""
    if not len(curves):
        none = np.full(len(PERCENT), np.nan)
        return none, none
    values = np.array(curves)
    sd = values.std(axis=0, ddof=1) if len(values) > 1 else np.full(values.shape[1], np.nan)
    return values.mean(axis=0), sd


def _mean(values: Sequence[float]) -> float:
    """Mean of the known values."""
    known = [value for value in values if np.isfinite(value)]
    return float(np.mean(known)) if known else float("nan")
