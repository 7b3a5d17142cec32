"""Options and exit codes that verbs share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

FAILED, BAD_INPUT = 1, 2
DISTRIBUTION = "talus-multibody"
MOST_POINTS = 10_000_000  # of a run's results
Out = Annotated[
    Path | None, typer.Option("--out", help="Folder for the results, which must not exist yet; default: ./talus-NAME.")
]
Full = Annotated[bool, typer.Option("--full", help="Show all tables; the file summary.md has them in any case.")]
FullTables = Annotated[bool, typer.Option("--full", help="Show all tables.")]
Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON, for machines.")]
Kinds = Annotated[
    str,
    typer.Option(
        "--figure-format",
        help="Formats of the figures, separated by commas: png, svg, pdf.  With pdf alone pages show PNG.",
    ),
]
Dpi = Annotated[int, typer.Option("--dpi", help="Dots per inch of PNG figures: 50 to 600.")]
Arguments = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="Argument of the function that builds the model; may be repeated."),
]
Model = Annotated[
    str,
    typer.Argument(
        help="Name of a model (see talus models), package.module:function, or a file: .json (Talus), .osim, .urdf, .xml (MuJoCo)."
    ),
]
