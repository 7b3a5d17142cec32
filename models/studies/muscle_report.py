"""Muscles and contact forces of a trial with each kind of ankle: tables, figures, files, and what is said of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from models.studies import emg_agreement
from models.walking.electromyograms import Electromyograms
from models.walking.static_optimisation import MOST_RESERVE
from models.walking.swapped_ankle import AnkleComparison
from runtime.report import Table, plots
from runtime.report.figure_files import Drawing
from runtime.support import GRAVITY

TIME = "time [s]"
AXES = ("x", "y", "z")
KNEE = "knee"
CURVES = 6  # of activations beside a motion
CROWNINSHIELD = (
    "R. D. Crowninshield, R. A. Brand: A physiologically based criterion of muscle force prediction in locomotion, Journal of "
    "Biomechanics 14, 793-801 (1981); sum of the stresses cubed."
)


def off(values: Any, others: Any) -> float:
    """Root mean square of differences."""
    return float(np.sqrt(np.mean((values - others) ** 2)))


def agreement(found: Mapping[str, tuple[AnkleComparison, Electromyograms | None]]) -> list[Table]:
    """Agreement of trials with their electromyograms, by names, empty for one; no table without muscles or electromyograms."""
    crossing: list[str] = []
    optimised: dict[str, Any] = {}
    for name, (compared, electromyograms) in found.items():
        if _with_muscles(compared):
            crossing += [muscle for ankle in compared.ankles for muscle in compared.muscles_of(ankle)]
            for sort, one in compared.trials.items():
                activations = one.muscles.activations  # type: ignore[union-attr]
                optimised[", ".join(filter(None, (name, sort)))] = electromyograms, one.trial.t, activations
    return emg_agreement.tables(optimised, crossing, "joint" if len(found) == 1 else "trial and joint")


def tables(found: AnkleComparison, agreement: Sequence[Table]) -> list[Table]:
    """Muscles, their agreement with electromyograms, reserves and contact forces; none without muscles."""
    if not _with_muscles(found):
        return []
    return [_muscles(found, bool(agreement)), *agreement, _reserves(found), _contacts(found)]


def _with_muscles(found: AnkleComparison) -> bool:
    return all(one.muscles is not None for one in found.trials.values())


def _muscles(found: AnkleComparison, compared: bool) -> Table:
    """A row for each muscle that crosses an ankle, with each kind of joint."""
    rows: list[list[Any]] = []
    first = next(iter(found.trials.values())).muscles
    for ankle in found.ankles:
        for name in found.muscles_of(ankle):
            for sort, one in found.trials.items():
                a, F, length = (
                    of[name] for of in (one.muscles.activations, one.muscles.forces, one.muscles.fiber_lengths)
                )  # type: ignore[union-attr]
                rows.append(
                    [
                        name, sort, round(float(a.max()), 3), round(float(a.mean()), 3), round(float(F.max()), 1),
                        round(float(one.trial.t[F.argmax()]), 3), round(float(length.min()), 3), round(float(length.max()), 3),
                        one.muscles.saturated.get(name, 0), round(off(F, first.forces[name]), 2),  # type: ignore[union-attr]
                    ]
                )  # fmt: skip
    columns = [
        "muscle", "joint", "largest activation [1]", "mean activation [1]", "largest force [N]", "at [s]",
        "shortest fibre [optimal lengths]", "longest fibre [optimal lengths]", "frames at the bound", "difference of force [N]",
    ]  # fmt: skip
    note = (
        "Muscles that cross an ankle; all are in the files of activations and forces.  Rigid tendons.  Differences: root mean "
        "square from the joint of the first rows."
    )
    note += "" if compared else "  The trial has no electromyograms with which activations are compared."
    brief = ["muscle", "joint", "largest activation [1]", "largest force [N]", "difference of force [N]"]
    return Table("muscles", columns, rows, note, brief)


def _reserves(found: AnkleComparison) -> Table:
    """A row for each coordinate whose moment muscles make, with each kind of joint."""
    talocrural = {pair[0] for pair in found.ankles.values()}
    rows = []
    for sort, one in found.trials.items():
        muscles = one.muscles
        assert muscles is not None  # the caller asks for muscles
        for name in muscles.moments:
            share = muscles.reserve_share(name)
            judged = name in talocrural or KNEE in name
            verdict = ("within" if share <= MOST_RESERVE else "above") if judged else "no threshold"
            largest = [float(np.abs(of[name]).max()) for of in (muscles.moments, muscles.reserves)]
            rows.append(
                [
                    sort,
                    name,
                    *(round(value, 3) for value in largest),
                    round(100.0 * share, 2),
                    len(muscles.failed),
                    verdict,
                ]
            )
    columns = [
        "joint", "coordinate", "largest moment [N m]", "largest reserve [N m]", "share [%]", "frames without success", "result",
    ]  # fmt: skip
    note = (
        f"Reserve: the part of a moment that muscles do not make.  Threshold: {100.0 * MOST_RESERVE:g} % of the largest moment "
        "at the ankle and the knee."
    )
    return Table("reserves", columns, rows, note, ["joint", "coordinate", "share [%]", "result"])


def _contacts(found: AnkleComparison) -> Table:
    """A row for each hinge of each ankle, with each kind of joint."""
    rows: list[list[Any]] = []
    first, weight = next(iter(found.trials.values())), GRAVITY * found.mass
    for joint in first.contacts:
        for sort, one in found.trials.items():
            of = one.contacts[joint]
            n = int(of.size.argmax())
            rows.append(
                [
                    joint, sort, f"{of.inner} on {of.outer}", round(float(of.size[n]), 1), round(float(of.size[n] / weight), 3),
                    round(float(one.trial.t[n]), 3), *(round(float(x), 1) for x in (*of.in_inner[n], *of.in_outer[n])),
                    round(float(np.linalg.norm(of.net, axis=1).max()), 1),
                    round(float(np.sqrt(np.mean(np.sum((of.in_inner - first.contacts[joint].in_inner) ** 2, axis=1)))), 2),
                ]
            )  # fmt: skip
    columns = [
        "hinge", "joint", "force of", "largest [N]", "largest [body weights]", "at [s]",
        *(f"then {x}, axes of the inner body [N]" for x in AXES), *(f"then {x}, axes of the outer body [N]" for x in AXES),
        "largest without muscles [N]", "difference [N]",
    ]  # fmt: skip
    note = (
        "Force of the inner body, such as the tibia, on the outer one, such as the talus or the massless link: the net reaction "
        "of inverse dynamics less the pull of the muscles.  Difference: root mean square of the vector, axes of the inner body."
    )
    return Table(
        "contact forces",
        columns,
        rows,
        note,
        ["hinge", "joint", "largest [N]", "largest [body weights]", "difference [N]"],
    )


def answer(found: Sequence[AnkleComparison]) -> str:
    """The largest contact force of the first ankle of each trial, and reserves above the threshold; empty without muscles."""
    if not all(_with_muscles(one) for one in found):
        return ""
    by_joint: dict[str, list[AnkleComparison]] = {}
    for one in found:
        by_joint.setdefault(next(iter(next(iter(one.trials.values())).contacts)), []).append(one)
    sentences = []
    for joint, trials in by_joint.items():
        sizes = {
            sort: float(np.mean([one.trials[sort].contacts[joint].size.max() / (GRAVITY * one.mass) for one in trials]))
            for sort in trials[0].trials
        }
        forces = ", ".join(f"{size:.2f} body weights ({sort})" for sort, size in sizes.items())
        sentences.append(f"of {joint}: {forces}" + (f", mean of {len(trials)} trials" if len(trials) > 1 else ""))
    rows = [row for one in found for row in _reserves(one).rows]
    above = list(dict.fromkeys(str(row[1]) for row in rows if row[-1] == "above"))
    others = dict[str, float]()
    for _, name, _, _, share, _, result in rows:
        if result == "no threshold" and share > 100.0 * MOST_RESERVE:
            others[name] = max(share, others.get(name, 0.0))
    failed = sum(len(one.muscles.failed) for each in found for one in each.trials.values())  # type: ignore[union-attr]
    text = f"  Largest contact force {'; '.join(sentences)}; reserves "
    text += f"above the threshold: {', '.join(above)}" if above else "within the threshold at ankle and knee"
    if others:
        listed = ", ".join(f"{name} {share:.0f} %" for name, share in others.items())
        text += f"; without one, above {100.0 * MOST_RESERVE:g} %: {listed}"
    if bounds := _at_bounds(found):
        text += f"; activations at their upper bound, in up to {max(bounds.values())} frames: {', '.join(bounds)}"
    return text + (f"; frames without success: {failed}." if failed else ".")


def _at_bounds(found: Sequence[AnkleComparison]) -> dict[str, int]:
    """Muscles across an ankle that are fully activated in some frames, and the largest number of such frames in a trial."""
    counts: dict[str, int] = {}
    for compared in found:
        crossing = [name for ankle in compared.ankles for name in compared.muscles_of(ankle)]
        for one in compared.trials.values():
            saturated = one.muscles.saturated  # type: ignore[union-attr]
            counts |= {name: max(saturated[name], counts.get(name, 0)) for name in crossing if name in saturated}
    return counts


def figures(found: AnkleComparison, label: str = TIME, at: Callable[[Any], Any] = lambda t: t) -> dict[str, Drawing]:
    """Activations and contact forces, over time or what ``at`` makes of it; none without muscles."""
    if not _with_muscles(found):
        return {}
    over = label.partition(" [")[0]
    shown = {}
    for ankle in found.ankles:
        charts = [
            plots.Chart(
                name.replace("_", " "),
                "activation [1]",
                {sort: (at(one.trial.t), one.muscles.activations[name]) for sort, one in found.trials.items()},  # type: ignore[union-attr]
            )
            for name in found.muscles_of(ankle)
        ]
        shows = f"Activations of the muscles across {ankle} over {over}, for each kind of joint."
        if charts:
            shown[f"muscles_{ankle}"] = Drawing(partial(plots.charts, charts, label, columns=3), shows)
    return shown | {
        "contact": Drawing(
            partial(plots.charts, _contact_charts(found, at), label),
            f"Contact forces of both hinges of each ankle over {over}, in body weights and in axes of the inner body, for each "
            "kind of joint.",
        )
    }


def curves(found: AnkleComparison, sort: str) -> dict[str, dict[str, Any]]:
    """The largest activations of muscles across each ankle with one kind of joint, as charts beside a motion."""
    charts = {}
    for ankle in found.ankles:
        activations = found.trials[sort].muscles.activations  # type: ignore[union-attr]
        largest = sorted(found.muscles_of(ankle), key=lambda name: -activations[name].max())[:CURVES]
        charts[f"largest activations across {ankle} [1]"] = {
            name.replace("_", " "): activations[name] for name in largest
        }
    return charts


def _contact_charts(found: AnkleComparison, at: Callable[[Any], Any]) -> list[plots.Chart]:
    charts = []
    for joint in next(iter(found.trials.values())).contacts:
        of = {sort: (at(one.trial.t), one.contacts[joint]) for sort, one in found.trials.items()}
        sizes = {sort: (t, one.size / (GRAVITY * found.mass)) for sort, (t, one) in of.items()}
        shown, inner = joint.replace("_", " "), next(iter(of.values()))[1].inner
        charts.append(plots.Chart(f"{shown}: force", "[body weights]", sizes))
        for k, axis in enumerate(AXES):
            along = {sort: (t, one.in_inner[:, k]) for sort, (t, one) in of.items()}
            charts.append(plots.Chart(f"{shown}: {axis} of {inner}", "[N]", along))
    return charts


def write_files(found: AnkleComparison, folder: Path, stem: str = "") -> tuple[list[Path], dict[str, Any]]:
    """Activations and forces of each sort as tables of OpenSim, and columns of the contact forces; ``stem``: of the names."""
    files: list[Path] = []
    columns: dict[str, Any] = {}
    for sort, one in found.trials.items():
        if one.muscles is not None:
            files += one.muscles.to_sto(folder, f"{stem}muscles_{sort.replace(' ', '_')}")
        for joint, of in one.contacts.items():
            for body, values in ((of.inner, of.in_inner), (of.outer, of.in_outer)):
                columns |= {f"{joint} force {axis} in {body}, {sort} [N]": values[:, k] for k, axis in enumerate(AXES)}
    return files, columns
