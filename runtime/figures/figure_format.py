"""Formats and resolution of the files of figures."""

from __future__ import annotations

from dataclasses import dataclass

from runtime.support.arguments import checked_class, unchecked
from runtime.support.errors import ModelError, shown

KNOWN = ("png", "svg", "pdf")
LEAST, MOST = 50, 600  # dots per inch


@checked_class
@dataclass(frozen=True)
class FigureFormat:
    """Formats of the files of a figure, such as ("pdf",), and the dots per inch of pictures.

    ``kinds``: png, svg or pdf, one or several.  Lines and letters of svg and pdf have no dots.

    Raises
    ------
    ModelError
        For no format or an unknown one, and for a resolution beyond 50 to 600.
    """

    kinds: tuple[str, ...] = ("png",)
    dpi: int = 150

    def __post_init__(self) -> None:
        unknown = [kind for kind in self.kinds or ("",) if kind not in KNOWN]
        if unknown:
            raise ModelError(
                f"figure_format = {shown(','.join(self.kinds))}: {unknown[0]!r} is unknown; use {', '.join(KNOWN)}"
            )
        if not LEAST <= self.dpi <= MOST:
            raise ModelError(
                f"dpi = {self.dpi}, limit {LEAST} to {MOST}; for finer print write svg or pdf, which have no dots"
            )

    @classmethod
    def named(cls, text: str, dpi: int) -> FigureFormat:
        """Return the formats of names that are separated by commas, such as ``pdf,svg``."""
        return cls(tuple(dict.fromkeys(name.strip().lower() for name in text.split(","))), dpi)


PNG = unchecked(FigureFormat)  # checks import NumPy, which the help of verbs goes without
