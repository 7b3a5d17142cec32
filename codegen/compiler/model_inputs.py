"""Parameters, states and inputs of a model, as nodes of an expression graph."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from codegen.compiler.recorded_algebra import Vector
from codegen.compiler.trace import Node, Record, recording

STATE = 13  # of a body: r (3), p (4), v (3), omega (3)


class Model(Protocol):
    """The facts about a system that determine its whole-model kernel.  Body 0 is the ground."""

    name: str
    key: str  # two models with the same key have the same kernel
    made_from: Mapping[str, str]  # digests of the texts of the kernels, by module
    file: Path  # where the module of a user's system goes
    fixed: Sequence[bool]  # (bodies + 1,)
    joints: Sequence[tuple[Any, int, int, Sequence[int]]]  # in order: kernel, bodies i and j, rows that are kept
    vectors: Sequence[tuple[int, int, int]]  # joint, place in x, body: in the order of "vector_local"
    signals: Sequence[tuple[int, int]]  # joint and place in x of the signals of drivers
    loaded: bool  # the accelerations without joints are inputs
    parameters: Mapping[str, np.ndarray[Any, np.dtype[np.float64]]]
    folded: Mapping[str, np.ndarray[Any, np.dtype[np.bool_]]]  # which of them are zeros and ones that become constants
    rotation: Callable[..., Any]
    euler_rates: Callable[..., Any]


class ModelInputs:
    """The expression graph of a model, with the parameters, states and inputs that it starts from."""

    def __init__(self, model: Model) -> None:
        self.model, self.record = model, Record()
        self.zero, self.one = self.record.constant(0.0), self.record.constant(1.0)
        self.places: list[tuple[str, tuple[int, ...]]] = []  # of the parameters in ModelData
        self._parameter: dict[tuple[str, tuple[int, ...]], Node] = {}
        self.evaluated: set[int] = set()  # nodes that change from one evaluation to the next
        self.state_inputs: dict[int, int] = {}  # place in the state -> index of its node
        self.state, self.A = self._bodies()
        self.free = [b for b, fixed in enumerate(model.fixed) if not fixed]

    def parameter(self, name: str, *index: int) -> Node:
        """A parameter, or its value if it is folded into the kernel."""
        if self.model.folded[name][index]:
            return self.record.constant(float(self.model.parameters[name][index]))
        if (name, index) not in self._parameter:
            self._parameter[name, index] = self.record.input(f"p[{len(self.places)}]")
            self.places.append((name, index))
        return self._parameter[name, index]

    def input(self, text: str) -> Node:
        """A value that the kernel reads at every evaluation."""
        node = self.record.input(text)
        self.evaluated.add(node.index)
        return node

    def _bodies(self) -> tuple[list[Vector], list[np.ndarray[Any, Any]]]:
        """States and rotation matrices of all bodies."""
        states, rotations = [], []
        for b, fixed in enumerate(self.model.fixed):
            if fixed:
                state = [self.parameter("pose", b, k) for k in range(7)] + 6 * [self.zero]
            else:
                first = STATE * (b - 1)
                state = [self.input(f"y[{first + k}, n]") for k in range(STATE)]
                self.state_inputs |= {first + k: node.index for k, node in enumerate(state)}
            A = np.full((3, 3), self.zero, object)
            if b > 0:
                recording(self.model.rotation)(state[3:7], A)
            else:
                A[range(3), range(3)] = self.one
            states.append(state)
            rotations.append(A)
        return states, rotations
