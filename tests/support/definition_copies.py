"""A copy of ``codegen`` and ``generated`` to edit: a miniature with few definitions, which is generated in seconds."""

import ast
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
KEPT = {
    "joints": {"constant_distance", "constant_angle", "point_on_plane", "spherical"},
    "motions": {"point_on_plane", "spherical"},
    "drivers": {"guided_point"},
    "limits": {"cone"},
    "cones": {"elliptical", "position", "separation", "top_view"},
    "contacts": {"sphere_plane", "hertz", "coulomb"},
    "forces": {"rotational_damper"},
    "coordinate_limits": {"slider_limit"},
    "joint_friction": {"guide_friction"},
    "couplings": {"follower"},
    "paths": {"straight"},
    "points": {"conditional"},
}


def run(folder, *arguments, **environment):
    return subprocess.run(
        [sys.executable, *arguments], cwd=folder, capture_output=True, text=True, encoding="utf-8",
        env=os.environ | {"PYTHONDONTWRITEBYTECODE": "1", "PYTHONIOENCODING": "utf-8"} | environment,
    )  # fmt: skip


def check(folder):
    return run(folder, "-m", "codegen", "--check")


def edit(file, old, new):
    text = file.read_text(encoding="utf-8")
    assert text.count(old) == 1, f"{old!r} occurs {text.count(old)} times in {file.name}"
    file.write_text(text.replace(old, new), encoding="utf-8", newline="\n")


def modules_of(folder):
    """The modules of ``generated/`` by name, as bytes."""
    return {file.name: file.read_bytes() for file in (folder / "generated").glob("*.py")}


def copy_of(folder, to):
    """A copy of both packages."""
    for room in ("codegen", "generated"):
        shutil.copytree(folder / room, to / room, ignore=shutil.ignore_patterns("__pycache__"))
    return to


def make_miniature(folder):
    """A copy of both packages with the definitions of ``KEPT`` only, and the kernels generated from them."""
    copy_of(ROOT, folder)
    for name, kept in KEPT.items():
        file = folder / "codegen" / f"{name}.py"
        lines = file.read_text(encoding="utf-8").splitlines(keepends=True)
        for node in reversed(ast.parse("".join(lines)).body):
            if isinstance(node, ast.FunctionDef) and node.name not in kept and not node.name.startswith("_"):
                del lines[min([node.lineno, *(d.lineno for d in node.decorator_list)]) - 1 : node.end_lineno]
        file.write_text("".join(lines), encoding="utf-8", newline="\n")
    done = run(folder, "-m", "codegen")
    assert done.returncode == 0, done.stderr
    return folder
