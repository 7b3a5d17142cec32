"""The page ``docs/validation/queries.md`` from results of the question: ``python -m benchmarks.queries.page OUT FOLDER...``.

Folders of several runs are joined, since OpenSim and MuJoCo's assets are often in environments of their own.
"""

from __future__ import annotations

import sys
from math import isnan
from pathlib import Path

from benchmarks.pages import rows_of, write_page
from benchmarks.queries.question import BOUND, BOUND_FORWARD, QUERIES, bound_of

HEAD = """# Mechanics of models from files, compared with other programs

Every quantity of [`runtime.mechanics`](../mechanics.md) is compared on files of public repositories, in random states. The
reference is MuJoCo (MJCF), Pinocchio (URDF, some with a floating root) or OpenSim's Simbody (.osim, with splines and couplers).
Each number is the largest difference as a fraction of the largest entry; for forward dynamics it is also divided by the condition
number of the mass matrix. Frames are those of all bodies in the file. States are matched by the names of the coordinates.

Generated from results of `python -m benchmarks queries` by `python -m benchmarks.queries.page`; {versions}.

{summary}

The programs define some quantities differently:

- MuJoCo and OpenSim have no analytic derivatives; finite differences of order 8 of their inverse dynamics are used instead.
- Potential energies are compared as differences between two random states, since the other programs include bodies that are
  fixed to the ground.
- `integrate` moves the origin of a floating body along a straight line in MuJoCo and along a screw in Pinocchio; Talus moves the
  centre of mass along a straight line. `integrate` is therefore compared without rotation of such bodies, where all three agree,
  and `difference` without their displacement.
- Angles computed from states of bodies, and coordinates of continuous joints in Pinocchio, are known only up to revolutions:
  `difference` is compared modulo revolutions.
- Bodies that no rate moves, such as the locked platforms of `WalkerModel.osim` and `ToyLandingModel.osim`, are not part of the
  centre of mass and the momentum in Talus. OpenSim includes them; they are subtracted.
- The third derivatives of splines jump at knots, and so do derivatives with respect to q. Differences stay on one side of the
  next knot.
- Where several rotations of a joint follow one coordinate, as in the knees of Rajagopal's models, OpenSim's accelerations are not
  the derivatives of its own velocities. The second table therefore compares both programs with finite differences of order 8.
  These are differences of OpenSim's velocities; for efforts, of its mass matrix in Lagrange's equations; for derivatives, of
  Talus's efforts.
- `wrist.osim` has no masses. `wrist with masses.osim` is the same model, in which each body has 0.1 kg and moments of inertia of
  (1, 2, 1.5) 1e-4 kg m².
- Momentum is that of the bodies, without rotors; the mass matrix includes `armature` in both programs.
- Bias, gravity efforts and derivatives may vanish. Their differences are divided by at least a thousandth of the largest entry of
  the inverse dynamics.
- OpenSim has no `integrate` and `difference`. With couplers it has no forward dynamics of the independent coordinates alone.

"""


def page(folders: list[Path]) -> str:
    """The page from folders of results."""
    rows = [row for folder in folders for row in rows_of(folder / "queries.csv")]
    judged = [row for folder in folders for row in rows_of(folder / "judged.csv")]
    rows.sort(key=lambda row: (row["format"], row["file"].lower()))
    versions = ", ".join(
        f"{row['program']} {row['version']}"
        for row in rows_of(folders[0] / "versions.csv")
        if row["version"][0].isdigit()
    )
    done = [row for row in rows if not row["not compared"]]
    good = [row for row in done if not _beyond(row)]
    summary = (
        f"{len(rows)} files: {len(done)} compared, {len(good)} of these within {BOUND:g} in all quantities (forward dynamics "
        f"{BOUND_FORWARD:g})."
    )
    table = [
        "| file | rates | " + " | ".join(QUERIES) + " |", "|---" * (len(QUERIES) + 2) + "|", *map(_line, done), "",
        "| file | quantity | Talus, error against differences | OpenSim, error against differences |", "|---|---|---|---|",
        *(f"| {row['file']} | {row['query']} | {float(row['Talus']):.0e} | {float(row['owner']):.0e} |" for row in judged), "",
        "| file | reason why it is not compared |", "|---|---|",
        *(f"| {row['file']} | {_plain(row['not compared'])} |" for row in rows if row["not compared"]),
    ]  # fmt: skip
    return HEAD.format(versions=versions, summary=summary) + "\n".join(table) + "\n"


def _beyond(row: dict[str, str]) -> list[str]:
    """Queries of which the difference exceeds its bound."""
    return [name for name in QUERIES if float(row[name]) >= bound_of(name)]


def _line(row: dict[str, str]) -> str:
    beyond = _beyond(row)
    cells = []
    for name in QUERIES:
        value = float(row[name])
        text = "-" if isnan(value) else f"{value:.0e}"
        cells.append(f"**{text}**" if name in beyond else text)
    return "| " + " | ".join([row["file"], row["rates"], *cells]) + " |"


def _plain(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;").replace("\n", " ")


def main(arguments: list[str]) -> int:
    """Write the page."""
    return write_page(page, __doc__, arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
