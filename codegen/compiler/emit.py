"""From the derivation of a joint or a driver to the text of its kernel module."""

from __future__ import annotations

import sympy as sp

from codegen.compiler.angles import DOC
from codegen.compiler.bounds import bounds_of, singular_of
from codegen.compiler.calculus import BODIES, Definition, vector
from codegen.compiler.data_slopes import slopes_of_reference, slopes_of_rows
from codegen.compiler.derive import Derivation
from codegen.compiler.layout import Layout, kernel
from codegen.compiler.module import assemble_module, data_lines
from codegen.compiler.motion import read_motion
from codegen.compiler.motion_proof import prove
from codegen.compiler.straight import Lines, indexed
from codegen.compiler.tangents import seeds_of, tangent

EVALUATE = ("Phi", "Phi_dot", "D", "gamma")
DIRECTIONS = 24  # displacements and changes of velocity of two bodies


def emit(d: Derivation, source: str, motion: Definition | None = None) -> str:
    """The module of a definition and of its motion.  ``source`` names the file of the definition for the reader."""
    layout = Layout(d.scope)
    D = [(f"D[{r}, {c}]", d.D[r, c]) for r in range(d.D.rows) for c in range(d.D.cols)]
    Phi, Phi_dot, gamma = (indexed(name, getattr(d, name)) for name in ("Phi", "Phi_dot", "gamma"))
    reference = [c for v in d.scope.carried.values() for c in v] + list(d.scope.held.values()) + d.scope.branch_signs
    outputs = {
        "phi": (("Phi",), Phi, "Phi: the rows that vanish"),
        "jacobian": (("D",), D, "D: Phi' = D v - nu, columns v_i omega_i v_j omega_j"),
        "nu": (("nu",), indexed("nu", d.nu), "nu: velocity right-hand side"),
        "gamma": (("gamma",), gamma, "gamma: D v' = gamma"),
        "reference": (
            ("out",),
            indexed("out", reference),
            "Carried vectors, held constants and expressions that keep their sign, now",
        ),
        "evaluate": (EVALUATE, Phi + Phi_dot + D + gamma, "Everything that the equations of motion need"),
    }
    if not d.scope.signals:
        outputs |= {
            "data_slopes": (
                ("slopes",), slopes_of_rows(d.scope, d.Phi), "Derivatives of Phi over data, carried vectors, held constants"
            ),
            "reference_slopes": (
                ("slopes",), slopes_of_reference(d.scope), "Derivatives of carried vectors and held constants over data"
            ),
        }  # fmt: skip
    if d.scope.angles:
        outputs["angles"] = ("out",), indexed("out", d.scope.angles.values()), DOC
    kernels = [
        kernel(layout, name, ("body_i", "body_j", "x", *arrays), targets, doc)
        for name, (arrays, targets, doc) in outputs.items()
    ]
    rows, base = len(d.rows), {"body_i": "(13,)", "body_j": "(13,)", "x": f"({max(layout.size, 1)},)"}
    kernels += [
        _tangent(d, layout),
        _entry("entry", "evaluate", base | dict.fromkeys(EVALUATE, f"({rows},)") | {"D": f"({rows}, 12)"}),
        _entry(
            "tangent_entry", "tangent",
            base | {"about": "(18,)", "seeds": f"({DIRECTIONS}, {DIRECTIONS})", "out": f"({12 + 3 * rows}, {DIRECTIONS})"},
        ),
    ]  # fmt: skip
    if d.scope.angles:
        kernels.append(_entry("angles_entry", "angles", base | {"out": f"({len(d.scope.angles)},)"}))
    return assemble_module(d.doc, layout, _data(d, layout, motion), kernels, source)


def _tangent(d: Derivation, layout: Layout) -> Lines:
    """Derivatives of the terms of a joint in the equations of motion, at constant accelerations and multipliers."""
    u = [s for body in BODIES for stem in ("v_dot", "omega_dot") for s in vector(f"{stem}_{body}")]
    lam = [sp.Symbol(f"lam_{k}", real=True) for k in range(len(d.rows))]
    place = layout.place | {s: f"about[{k}]" for k, s in enumerate([*u, *lam])}
    wrench, rows = d.D.T * sp.Matrix(lam), d.D * sp.Matrix(u) - sp.Matrix(d.gamma)
    targets = indexed("out", [*wrench, *rows, *d.Phi_dot, *d.Phi])
    doc = "Derivatives of D^T lam, D u - gamma, Phi', Phi; about: accelerations u (12), lam; seeds: bodies"
    seeds = seeds_of(d.moving)
    return tangent("tangent", ("body_i", "body_j", "x", "about"), place, targets, doc, seeds, layout.rates, layout.long)


def _entry(name: str, called: str, shapes: dict[str, str]) -> Lines:
    """A kernel that takes pointers in place of arrays, for calls through its address."""
    arrays = ", ".join(f"carray({argument}, {shape})" for argument, shape in shapes.items())
    doc = f'    """``{called}`` with pointers in place of arrays, to be called through its address."""'
    return [f"def {name}({', '.join(shapes)}):", doc, f"    {called}({arrays})"]


def _data(d: Derivation, layout: Layout, motion: Definition | None) -> Lines:
    """The facts about a definition that the runtime reads, as plain data under the same names in every module."""
    keywords = tuple(m.name for m in layout.vectors if m.kind in ("point", "direction")) + tuple(layout.parameters)
    data: dict[str, object] = {
        "NAME": d.name,
        "KEYWORDS": keywords,
        "VECTORS": tuple((m.name, m.kind, m.body) for m in layout.vectors),
        "PARAMETERS": tuple((name, d.parameter_units[name]) for name in layout.parameters),
        "BOUNDS": bounds_of(d.name, d.doc, list(layout.parameters)),
        "BODIES": tuple(body for body in BODIES if any(m.body == body for m in d.moving)),
        "HELD": len(layout.held),
        "ANGLES": len(d.scope.angles),
        "BRANCH_SIGNS": len(d.scope.branch_signs),
        "SIGNALS": tuple(layout.signals),
        "COORDINATE": d.coordinate,
        "ROWS": d.rows,
        "UNITS": d.units,
        "SIZE": layout.size,
        "SINGULAR": singular_of(d.doc),
    }
    if not d.scope.signals:
        data |= _motion(d, motion)
    return data_lines(data)


def _motion(d: Derivation, definition: Definition | None) -> dict[str, object]:
    """The steps of a joint's motion, proven, and where its coordinates or its rows depend on each other."""
    if definition is None:
        return {"MOTION": None}
    motion = read_motion(d.scope, definition)
    where = prove(d, motion)
    return {"MOTION": motion.data(), "DEPENDENT_COORDINATES": where.coordinates, "DEPENDENT_ROWS": where.rows}
