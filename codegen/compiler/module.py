"""The text of a generated module: docstring, imports, data, kernels."""

from __future__ import annotations

from codegen.compiler.layout import Layout
from codegen.compiler.straight import Lines
from codegen.compiler.text import quoted, with_header


def assemble_module(doc: str, layout: Layout | None, data: Lines, kernels: list[Lines], source: str) -> str:
    """The text of a module: docstring, imports, data, kernels, under the header with its digest."""
    code = [line for lines in kernels for line in ["", "", *lines]]
    imports = ["", "import math"] if any("math." in line for line in code) else []
    names = "carray, njit" if any("carray(" in line for line in code) else "njit"
    imports += ["", f"from numba import {names}", ""]
    documented = "\n".join([doc, *(layout.listing() if layout else []), ""])
    body = "\n".join([quoted(documented), *imports, *data, *code, ""])
    return with_header(body, source)


def data_lines(data: dict[str, object]) -> Lines:
    """Constants of a module, as plain data."""
    return [f"{name} = {value!r}" for name, value in data.items()]
