"""Files of XML, and the folders in which the files that they name must lie."""

from __future__ import annotations

import os
from pathlib import Path

from runtime import ModelError
from runtime.support import Element, opened, parse_xml, read_file, shortened


def read_xml(file: Path) -> Element:
    """The root element of a file.

    Raises
    ------
    ModelError
        For a file that cannot be read, is too large, is no XML, or has a document type.
    """
    return parse_xml(read_file(file, smaller="move meshes into files of their own"), file)


def within_folder(root: Path, path: Path, element: Element, attribute: str) -> Path:
    """The path of a file that another one names, without links; only regular files of the model's folder are read.

    Raises
    ------
    ModelError
    """
    found = Path(os.path.realpath(path))
    if not found.is_relative_to(os.path.realpath(root)):
        given = shortened(element.attributes.get(attribute, str(path)))
        raise element.error(
            f'<{element.tag}>: {attribute} = "{given}" is outside of the folder {root.name or root}; '
            "move it there, or give root= a folder that holds both"
        )
    try:
        with opened(found):
            return found
    except ModelError as error:
        raise element.error(f"<{element.tag}>: {error}") from None
