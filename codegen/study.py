"""A user's own joint, compiled from a study."""

from __future__ import annotations

import inspect
import linecache
from types import ModuleType

from codegen.calculus import Definition, DefinitionError
from codegen.derive import derive
from codegen.emit import emit


def compile_joint(definition: Definition) -> ModuleType:
    """Derive and emit a joint's kernels; the result goes to ``Builder.joint`` in place of a built-in joint's name.

    Parameters
    ----------
    definition : function
        Written by the rules of ``codegen.calculus``: its arguments are the inputs, it returns the rows by name.

    Returns
    -------
    module
        The emitted module, with the same names as the modules of ``generated`` (``inspect.getsource`` shows its text).

    Raises
    ------
    DefinitionError
        Naming the definition and the rule that it breaks.
    """
    if not inspect.isfunction(definition):
        raise DefinitionError(f"compile_joint({definition!r}): give the function that returns the joint's rows")
    text = emit(derive(definition), f"the definition '{definition.__name__}'")
    module = ModuleType(f"generated_from_{definition.__name__}")
    file = f"<kernels of {definition.__name__}>"
    module.__file__ = file
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    exec(compile(text, file, "exec"), module.__dict__)
    return module
