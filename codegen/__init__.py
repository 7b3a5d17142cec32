"""Codegen: from a joint's equation to its compiled kernels.

``python -m codegen`` writes ``generated/`` anew from ``codegen/joints.py``; ``python -m codegen --check`` proves that
nothing drifted.  A study compiles a joint of its own with ``codegen.compile_joint``, and a system as one function with
``codegen.compile_model``.
"""

from codegen.calculus import DefinitionError, Vector
from codegen.study import compile_joint, compile_model

__all__ = ["DefinitionError", "Vector", "compile_joint", "compile_model"]
