"""Writes a page of the documentation from results of ``python -m benchmarks files``.

python -m benchmarks.files.page docs/validation/files.md FOLDER [FOLDER ...]
"""

from __future__ import annotations

import sys
from math import isfinite
from pathlib import Path

from benchmarks.pages import rows_of, write_page

BOUND = 1e-9
HEAD = """# Models from files, against their owners

Accelerations of all bodies in 100 random states within the ranges, against the program that owns the format: MuJoCo's
`mj_forward`, Pinocchio's `aba`, OpenSim's `realizeAcceleration`, each relative to the largest acceleration. Contacts, stops,
constraints other than couplers of OpenSim, actuators and what had to be ignored are off in the owner too. Times are those of one
evaluation, the least of several series: ours in joint coordinates, the owner's with its kinematics.

Generated from results of `python -m benchmarks files` by `python -m benchmarks.files.page`; {versions}.

{summary} Two are not:

- `suite/swimmer.xml`: no force rotates it, and MuJoCo's rounding of 2e-13 rad/s^2 is large beside accelerations of 5e-5 m/s^2;
- `Rajagopal_2015.osim`: at its knees several rotations follow one angle, and OpenSim's accelerations are not the derivatives of
  its own velocities.

"""
COLUMNS = (
    "file", "bodies", "degrees of freedom", "refused without `ignore`, or why it is not read", "listed", "largest error",
    "evaluation [us]", "owner [us]",
)  # fmt: skip


def page(folders: list[Path]) -> str:
    """The page from folders of results."""
    rows = [row for folder in folders for row in rows_of(folder / "files.csv")]
    rows.sort(key=lambda row: row["file"].lower())
    versions = ", ".join(f"{row['program']} {row['version']}" for row in rows_of(folders[0] / "versions.csv"))
    done = [row for row in rows if row["read"] == "yes"]
    good = [row for row in done if isfinite(float(row["largest error"])) and float(row["largest error"]) < BOUND]
    summary = f"{len(rows)} files: {len(done)} read, {len(good)} of these within {BOUND:g} of their owner."
    table = ["| " + " | ".join(COLUMNS) + " |", "|---" * len(COLUMNS) + "|", *map(_line, rows)]
    motions = [line for folder in folders for file in sorted(folder.glob("humanoid*.csv")) for line in _motion(file)]
    return HEAD.format(versions=versions, summary=summary) + "\n".join([*table, *motions]) + "\n"


def _motion(file: Path) -> list[str]:
    """The table of a motion at equal error."""
    rows = rows_of(file)
    label = file.stem.removeprefix("humanoid_")
    head = [
        "",
        f"## A humanoid for 1 s, to 1e-8 m ({label})",
        "",
        "| " + " | ".join(rows[0]) + " |",
        "|---" * len(rows[0]) + "|",
    ]
    cells = ([r["program"], r["setting"], f"{float(r['error [m]']):.1e}", f"{float(r['time [ms]']):.3g}"] for r in rows)
    return [
        *head,
        *("| " + " | ".join(row) + " |" for row in cells),
        "",
        "From a random state, contacts and stops off in both.",
    ]


def _line(row: dict[str, str]) -> str:
    read = row["read"] == "yes"
    reason = row["refused without ignore"].replace("|", "\\|").replace("<", "&lt;")
    numbers = [
        f"{float(row['largest error']):.1e}",
        f"{float(row['evaluation [us]']):.3g}",
        f"{float(row['owner [us]']):.3g}",
    ]
    counts = [row["bodies"], row["degrees of freedom"]] if read else ["", ""]
    cells = [
        row["file"],
        *counts,
        reason if read else f"not read: {reason}",
        row["listed"],
        *(numbers if read else [""] * 3),
    ]
    return "| " + " | ".join(cells) + " |"


def main(arguments: list[str]) -> int:
    """Write the page."""
    return write_page(page, __doc__, arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
