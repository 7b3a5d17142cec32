"""Writes a page of the documentation from results of ``python -m benchmarks files``.

python -m benchmarks.files.page docs/validation/files.md FOLDER [FOLDER ...]
"""

from __future__ import annotations

import sys
from math import isfinite
from pathlib import Path

from benchmarks.pages import rows_of, write_page

BOUND = 1e-9
HEAD = """# Models from files, compared with other programs

Accelerations of all bodies are compared in 100 random states within the ranges of the joints. The reference is the program of
the file's format: MuJoCo's `mj_forward` (MJCF), Pinocchio's `aba` (URDF) or OpenSim's `realizeAcceleration` (.osim). Errors are
relative to the largest acceleration. Contacts, stops, constraints other than OpenSim's couplers, actuators and ignored elements
are switched off in the reference, too. Times are for one evaluation, minimum of several series: Talus in joint coordinates, the
reference including its kinematics.

Generated from results of `python -m benchmarks files` by `python -m benchmarks.files.page`; {versions}.

{summary} Two are not:

- `suite/swimmer.xml`: no force rotates it, and MuJoCo's rounding error of 2e-13 rad/s^2 is large compared with accelerations of
  5e-5 m/s^2;
- `Rajagopal_2015.osim`: at its knees several rotations follow one angle, and OpenSim's accelerations are not the derivatives of
  its own velocities.

"""
COLUMNS = (
    "file", "bodies", "degrees of freedom", "refused without `ignore`, or reason why it is not read", "left out and listed",
    "largest error", "time of Talus [us]", "time of the reference [us]",
)  # fmt: skip


def page(folders: list[Path]) -> str:
    """The page from folders of results."""
    rows = [row for folder in folders for row in rows_of(folder / "files.csv")]
    rows.sort(key=lambda row: row["file"].lower())
    versions = ", ".join(f"{row['program']} {row['version']}" for row in rows_of(folders[0] / "versions.csv"))
    done = [row for row in rows if row["read"] == "yes"]
    good = [row for row in done if isfinite(float(row["largest error"])) and float(row["largest error"]) < BOUND]
    summary = f"{len(rows)} files: {len(done)} read, {len(good)} of these within {BOUND:g} of the reference."
    table = ["| " + " | ".join(COLUMNS) + " |", "|---" * len(COLUMNS) + "|", *map(_line, rows)]
    motions = [line for folder in folders for file in sorted(folder.glob("humanoid*.csv")) for line in _motion(file)]
    return HEAD.format(versions=versions, summary=summary) + "\n".join([*table, *motions]) + "\n"


def _motion(file: Path) -> list[str]:
    """The table of a motion at equal error."""
    rows = rows_of(file)
    label = file.stem.removeprefix("humanoid_")
    head = [
        "",
        f"## Simulation of a humanoid for 1 s to 1e-8 m ({label})",
        "",
        "| " + " | ".join(rows[0]) + " |",
        "|---" * len(rows[0]) + "|",
    ]
    cells = ([r["program"], r["setting"], f"{float(r['error [m]']):.1e}", f"{float(r['time [ms]']):.3g}"] for r in rows)
    return [
        *head,
        *("| " + " | ".join(row) + " |" for row in cells),
        "",
        "The motion starts from a random state; contacts and stops are off in both programs.",
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
