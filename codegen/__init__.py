"""Codegen: from a joint's equation to its compiled kernels.

``python -m codegen`` writes ``generated/`` anew from ``codegen/joints.py``; ``python -m codegen --check`` proves that
nothing drifted.  A study compiles a joint of its own with ``codegen.compile_joint``.
"""

from codegen.calculus import DefinitionError, Vector
from codegen.study import compile_joint

__all__ = ["DefinitionError", "Vector", "compile_joint"]
