"""The rules that the text of a kernel obeys, and kernels broken on purpose."""

import ast
import copy
import inspect
import re
from types import SimpleNamespace

import numpy as np

STATE_INPUTS = ("body_i", "body_j", "x")
ALLOWED = (
    ast.BinOp, ast.Add, ast.Sub, ast.Mult, ast.Div, ast.Pow, ast.UnaryOp, ast.USub,
    ast.Name, ast.Load, ast.Constant, ast.Subscript, ast.Call, ast.Attribute,
)  # fmt: skip


def functions_of(source):
    return {node.name: node for node in ast.parse(source).body if isinstance(node, ast.FunctionDef)}


def lint(function, expected, inputs=STATE_INPUTS):
    """What breaks the rules of a kernel: straight-line scalar code, every output entry once, outputs last.

    ``expected``: shape of each output.
    """
    outputs = [a.arg for a in function.args.args if a.arg not in inputs]
    found, known, written = [], set(), []
    for statement in function.body[1:]:
        where = f"{function.name}: {ast.unparse(statement)}"
        if not (isinstance(statement, ast.Assign) and len(statement.targets) == 1):
            found.append(f"{where}: no plain assignment")
            continue
        indices = [node.slice for node in ast.walk(statement.value) if isinstance(node, ast.Subscript)]
        for node in ast.walk(statement.value):
            if isinstance(node, ast.Tuple) and node in indices:  # of a matrix
                continue
            if not isinstance(node, ALLOWED):
                found.append(f"{where}: {type(node).__name__}")
            elif isinstance(node, ast.Call) and not re.match(r"math\.|corner$", ast.unparse(node.func)):
                found.append(f"{where}: calls {ast.unparse(node.func)}")
            elif isinstance(node, ast.Subscript) and ast.unparse(node.value) not in inputs:
                found.append(f"{where}: reads {ast.unparse(node)}")
            elif isinstance(node, ast.Name) and node.id not in known | {*inputs, "math", "corner"}:
                found.append(f"{where}: reads {node.id} before it is written")
        target = statement.targets[0]
        if isinstance(target, ast.Name):
            if target.id in known:
                found.append(f"{where}: writes {target.id} twice")
            if written:
                found.append(f"{where}: follows an output")
            known.add(target.id)
        elif isinstance(target, ast.Subscript) and ast.unparse(target.value) in outputs:
            index = ast.literal_eval(target.slice)
            written.append((ast.unparse(target.value), index if isinstance(index, tuple) else (index,)))
        else:
            found.append(f"{where}: writes {ast.unparse(target)}")
    wanted = [(out, index) for out, shape in zip(outputs, expected, strict=True) for index in np.ndindex(shape)]
    if sorted(written) != sorted(wanted):
        found.append(f"{function.name}: writes {len(written)} entries, {len(set(written))} different, of {len(wanted)}")
    if not ast.get_docstring(function):
        found.append(f"{function.name}: no docstring")
    return found


class Column(ast.NodeTransformer):
    """Gives column n of ``seeds`` and ``out`` names of their own, so that a pass of a tangent's loop reads like a kernel."""

    def visit_Subscript(self, node):
        match node:
            case ast.Subscript(ast.Name("seeds" | "out" as array), ast.Tuple([index, ast.Name("n")])):
                return ast.Subscript(ast.Name(f"{array}_n", ast.Load()), index, node.ctx)
        return node


def lint_tangent(function, targets, inputs):
    """What breaks the rules of a tangent: straight-line code, then one loop over the directions, straight-line code too."""
    *before, loop = function.body
    head = "for n in range(seeds.shape[1]):"
    if [a.arg for a in function.args.args] != [*inputs, "seeds", "out"]:
        return [f"{function.name}: takes other arguments than {', '.join(inputs)}, seeds, out"]
    if not (isinstance(loop, ast.For) and ast.unparse(loop).startswith(head) and not loop.orelse):
        return [f"{function.name}: does not end with '{head}'"]
    once = copy.deepcopy(function)
    once.body = [*before, *(Column().visit(copy.deepcopy(statement)) for statement in loop.body)]
    once.args.args[-2].arg, once.args.args[-1].arg = "seeds_n", "out_n"
    return lint(once, [(targets,)], (*inputs, "seeds_n"))


def broken(value):
    """The expression with one operation changed."""
    for node in ast.walk(value):
        if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Sub)):
            node.op = ast.Sub() if isinstance(node.op, ast.Add) else ast.Add()
            return value
    for node in ast.walk(value):
        if isinstance(node, ast.BinOp):
            node.op = ast.Add()
            return value
    if isinstance(value, ast.Constant):
        return ast.Constant(value.value + 1.0)
    return ast.UnaryOp(ast.USub(), value)


def computes(statement):
    """Neither a docstring nor a loop nor an input."""
    return isinstance(statement, ast.Assign) and not isinstance(statement.value, ast.Subscript)


def mutants(module, kernel, every=1):
    """Each statement that computes or writes something, broken: its text, and the module with that kernel.

    ``every``: of so many statements one.
    """
    function = functions_of(inspect.getsource(module))[kernel]
    function.decorator_list = []
    places = [(body, k) for body in (function.body, getattr(function.body[-1], "body", [])) for k in range(len(body))]
    for body, k in [(body, k) for body, k in places if computes(body[k])][::every]:
        statement = body[k]
        body[k] = copy.deepcopy(statement)
        body[k].value = broken(body[k].value)
        tree = ast.fix_missing_locations(ast.Module([function], []))
        scope = dict(vars(module))
        exec(compile(tree, f"<{module.__name__}.{kernel}, broken>", "exec"), scope)
        other = SimpleNamespace(**vars(module) | {kernel: SimpleNamespace(py_func=scope[kernel])})
        yield f"{ast.unparse(statement)}  ->  {ast.unparse(body[k])}", other
        body[k] = statement


def distances(module, kernel, check):
    """Text of each change of a kernel -> distance from the truth by a check, infinite where the changed kernel fails."""

    def distance(other):
        try:
            return check(other)
        except (ValueError, ZeroDivisionError):  # such as the root of a negative number
            return np.inf

    return {text: distance(other) for text, other in mutants(module, kernel)}


def missed(module, kernel, check, least):
    """Changes of a kernel that a check does not notice: those for which its distance from the truth is not above ``least``."""
    return [text for text, distance in distances(module, kernel, check).items() if not distance > least]
