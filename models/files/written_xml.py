"""XML that is written: numbers by repr, which read to the same bits."""

from __future__ import annotations

from collections.abc import Iterable
from math import atan2
from xml.etree import ElementTree

import numpy as np
from scipy.spatial.transform import Rotation

from models.files.description import Floats
from runtime.support import Element

UNPRINTED = {code: " " for code in range(32)}  # characters that XML does not admit


def element(parent: ElementTree.Element | None, tag: str, **attributes: object) -> ElementTree.Element:
    """A new element, the last child of another."""
    given = {key: value if isinstance(value, str) else numbers(value) for key, value in attributes.items()}
    made = ElementTree.Element(tag, given) if parent is None else ElementTree.SubElement(parent, tag, given)
    return made


def child(parent: ElementTree.Element, tag: str, value: object, **attributes: object) -> ElementTree.Element:
    """A new child with a text."""
    made = element(parent, tag, **attributes)
    made.text = value if isinstance(value, str) else numbers(value)
    return made


def numbers(value: object) -> str:
    """Numbers as text; -0 as 0."""
    values: Iterable[float] = np.atleast_1d(np.asarray(value, dtype=float)).ravel().tolist()
    return " ".join(repr(x + 0.0).removesuffix(".0") for x in values)


def name(text: str) -> str:
    """A name of a system without control characters."""
    return text.translate(UNPRINTED)


def quaternion(A: Floats) -> Floats:
    """Of a rotation matrix (3, 3), scalar first."""
    found: Floats = np.roll(Rotation.from_matrix(np.array(A)).as_quat(), 1)  # SciPy 1.15 refuses read-only arrays
    return found


def fixed_angles(A: Floats) -> Floats:
    """Angles (3,) [rad] about x, y and z of the outer axes, in this order, of a rotation matrix; exact also in gimbal lock."""
    c = atan2(A[1, 0], A[0, 0])
    rest = Rotation.from_rotvec([0.0, 0.0, -c]).as_matrix() @ A
    b = atan2(-rest[2, 0], rest[0, 0])
    rest = Rotation.from_rotvec([0.0, -b, 0.0]).as_matrix() @ rest
    return np.array([atan2(rest[2, 1], rest[1, 1]), b, c])


def body_angles(A: Floats) -> Floats:
    """Angles (3,) [rad] about x, y and z of the turned axes, in this order, of a rotation matrix."""
    return -fixed_angles(A.T)


def tree_of(read: Element) -> ElementTree.Element:
    """An element that was read, to be changed and written."""
    made = element(None, read.tag)
    made.attrib, made.text = dict(read.attributes), read.text
    made.extend(tree_of(one) for one in read.children)
    return made


def text_of(root: ElementTree.Element) -> str:
    """The text of a file."""
    ElementTree.indent(root, " ")
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(root, encoding="unicode") + "\n"
