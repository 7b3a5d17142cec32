"""The page ``docs/validation/queries.md`` from results of the question: ``python -m benchmarks.queries.page OUT FOLDER...``.

Folders of several runs are joined, since OpenSim and MuJoCo's assets are often in environments of their own.
"""

from __future__ import annotations

import sys
from math import isnan
from pathlib import Path

from benchmarks.pages import rows_of, write_page
from benchmarks.queries.question import BOUND, BOUND_FORWARD, QUERIES, bound_of

HEAD = """# Mechanics of models from files, against other programs

Every query of [`runtime.mechanics`](../mechanics.md) on files of public repositories, in random states: against MuJoCo (MJCF),
Pinocchio (URDF, some with a floating root) and OpenSim's Simbody (.osim, with splines and couplers). Each number is the largest
difference as a fraction of the largest entry; of forward dynamics it is divided by the condition of the mass matrix. Frames are
those of all bodies of the file. States are tied by the names of the file's coordinates.

Generated from results of `python -m benchmarks queries` by `python -m benchmarks.queries.page`; {versions}.

{summary}

Differences by definition:

- MuJoCo and OpenSim have no analytic derivatives: differences of order 8 of their inverse dynamics take their place.
- Potential energy is that against another random state, since the programs count bodies that are fixed to the ground.
- `integrate` moves the origin of a floating body along a straight line in MuJoCo, along a screw in Pinocchio; Talus moves the
  centre of mass along a straight line. They are compared without a turn of such bodies, where all three agree, and `difference`
  without the displacement.
- Angles of a state of bodies are known up to revolutions, and so are coordinates of continuous joints in Pinocchio: `difference`
  is compared up to these.
- Bodies that no rate moves, such as the locked platforms of `WalkerModel.osim` and `ToyLandingModel.osim`, count neither in the
  centre of mass nor in the momentum; OpenSim's have them, and they are subtracted.
- The third derivatives of splines jump at knots, and with them derivatives over q. Differences stay on one side of the next knot.
- Where several turns of a joint follow one coordinate, as in the knees of Rajagopal's models, OpenSim's accelerations are not the
  changes of its own velocities. The second table compares both programs with differences of order 8 of OpenSim's own velocities,
  and, for efforts, of its own mass matrix in Lagrange's equations; derivatives with differences of Talus's efforts.
- `wrist.osim` has no masses. `wrist with masses.osim` is the same model, each body with 0.1 kg and moments of inertia of
  (1, 2, 1.5) 1e-4 kg m².
- Momentum is that of the bodies, without rotors; the mass matrix contains `armature` in both.
- Bias, gravity efforts and derivatives may vanish: a thousandth of the inverse dynamics counts as their largest entry at least.
- OpenSim has no `integrate` and `difference`, and where couplers act no forward dynamics of the independent coordinates alone.

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
        f"{len(rows)} files: {len(done)} compared, {len(good)} of these within {BOUND:g} in all queries (forward dynamics "
        f"{BOUND_FORWARD:g})."
    )
    table = [
        "| file | rates | " + " | ".join(QUERIES) + " |", "|---" * (len(QUERIES) + 2) + "|", *map(_line, done), "",
        "| file | query | Talus, from differences | OpenSim, from differences |", "|---|---|---|---|",
        *(f"| {row['file']} | {row['query']} | {float(row['Talus']):.0e} | {float(row['owner']):.0e} |" for row in judged), "",
        "| file | not compared |", "|---|---|",
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
