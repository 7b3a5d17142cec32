"""The files of a model of MJCF, checked before MuJoCo opens any.

MuJoCo reads a text that is written here: includes are put in their places, and each file that it names is the absolute path of a
regular file within the root.  So no attribute, link or child model leads elsewhere, however MuJoCo resolves it.
"""

from __future__ import annotations

import os
from pathlib import Path
from xml.sax.saxutils import quoteattr

from models.files.xml_reading import read_xml, within_folder
from runtime import ModelError
from runtime.support import Element, opened, write_text

MOST_FILES = 200  # of a model and its children
FOLDERS = {"meshdir": ("meshdir",), "texturedir": ("texturedir",), "assetdir": ("meshdir", "texturedir")}


def sealed(file: Path, root: Path, folder: Path) -> Path:
    """Write the text that MuJoCo reads, and those of child models, into a folder; returns the file.

    Raises
    ------
    ModelError
        Where a file is outside of the root, is none, or includes itself.
    """
    with opened(file):  # the message names it as the caller does
        return _Sealing(Path(os.path.realpath(root)), folder).model(Path(os.path.realpath(file)))


class _Sealing:
    def __init__(self, root: Path, folder: Path) -> None:
        self.root, self.folder = root, folder
        self.read = 0  # files

    def model(self, file: Path) -> Path:
        """The written text of a model."""
        top = self._expanded(file, file.parent, [])
        if top.tag != "mujoco":
            raise top.error(f"the root is <{top.tag}>; an MJCF file begins with <mujoco>")
        folders, strip = {"meshdir": "", "texturedir": ""}, False
        for e in top.within():
            if e.tag == "compiler":
                for key in ("assetdir", "meshdir", "texturedir"):  # the first is a default of the others
                    if (value := e.attributes.pop(key, None)) is not None:
                        folders |= dict.fromkeys(FOLDERS[key], _path(value))
                strip = e.attributes.pop("strippath", "true" if strip else "") == "true"
        for e in top.within():
            for key, value in e.attributes.items():
                if not key.startswith("file") or not value:
                    continue
                if e.tag == "model":
                    child = within_folder(self.root, file.parent / _path(value), e, key)
                    e.attributes[key] = str(self.model(child))
                    continue
                name = _path(value).rpartition("/")[2] if strip else _path(value)
                asset = file.parent / folders["texturedir" if e.tag == "texture" else "meshdir"] / name
                within_folder(self.root, asset, e, key)
                # The given name, of which MuJoCo makes that of the asset, also if it is a link.
                e.attributes[key] = str(Path(os.path.realpath(asset.parent)) / asset.name)
        self.read += 1
        written = self.folder / str(self.read) / file.name
        written.parent.mkdir()
        return write_text(written, _text(top))

    def _expanded(self, file: Path, base: Path, used: list[Path]) -> Element:
        """The top of a file, the content of others in place of <include>; ``used``: the files of this model so far."""
        self.read += 1
        if file in used or self.read > MOST_FILES:
            raise ModelError(f"{file.name}: includes itself, or more than {MOST_FILES} files; remove the circle")
        used.append(file)
        top = read_xml(file)
        for e in top.within():
            children = []
            for child in e.children:
                if child.tag != "include":
                    children.append(child)
                    continue
                name = _path(child.need("file"))
                near = base / name if os.path.isfile(base / name) else file.parent / name
                children += self._expanded(within_folder(self.root, near, child, "file"), base, used).children
            e.children = children
        return top


def _path(value: str) -> str:
    return value.replace("\\", "/")  # as MuJoCo, on any system


def _text(top: Element) -> str:
    """The text of an element; those of its own file begin in the lines of this file, which MuJoCo's messages name."""
    lines, line = [], 1
    parts: list[str | Element] = [top]
    while parts:
        e = parts.pop()
        if isinstance(e, str):
            lines.append(e)
            continue
        if e.file == top.file:
            lines.append("\n" * (e.line - line))
            line = max(line, e.line)
        lines.append(f"<{e.tag}{''.join(f' {key}={quoteattr(value)}' for key, value in e.attributes.items())}>")
        parts += [f"</{e.tag}>", *reversed(e.children)]
    return "".join(lines)
