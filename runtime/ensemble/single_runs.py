"""Cases by ``simulate``, one after another, and what a chunk keeps of their runs."""

from __future__ import annotations

from functools import partial

import numpy as np

from runtime.dynamics.status import Status, message_at_end
from runtime.ensemble.kept_outputs import columns_of_run
from runtime.ensemble.task import Chunk, Stopped, Task
from runtime.integrate.endings import TURNED
from runtime.integrate.settings import Settings, settings
from runtime.integrate.simulate import simulate
from runtime.results.outputs import undetermined_outputs
from runtime.results.run import Run
from runtime.results.undecided_turns import UNKNOWN, remark_on_turns
from runtime.results.whole_turns import turns_at
from runtime.support.arrays import Floats
from runtime.support.errors import ModelError
from runtime.system.state import State
from runtime.system.system import System


def settings_of(system: System, how: Settings) -> Settings:
    """Settings as ``simulate`` checks them for a system of one's own.

    Raises
    ------
    ModelError
    """
    more = {"alpha": None, "beta": None} | how.keywords
    return settings(system, how.t_end, np.array(how.t), **more)


def simulated(system: System, start: State | None, task: Task) -> tuple[Run, float]:
    """The run of a case, and the time [s] that it reached.

    Raises
    ------
    Stopped
    ModelError
        Where ``simulate`` refuses the case.
    """
    s, reached = task.how, task.how.t_start

    def report(t: float, end: float) -> None:
        nonlocal reached
        if task.stop[0]:
            raise KeyboardInterrupt
        reached = t

    run = simulate(system, s.t_end, t_eval=s.t, initial=start, progress=report, **task.acting, **s.keywords)
    if run.status == Status.INTERRUPTED:
        raise Stopped
    return run, reached


class SingleRuns:
    """Single runs of cases of a chunk, and what the chunk keeps of them.  Call ``end`` after the last case."""

    def __init__(self, task: Task, chunk: Chunk) -> None:
        self.task, self.chunk = task, chunk
        self.begun: dict[bool, list[tuple[int, Floats]]] = {}  # by whether turns of a tree are kept: cases and starts

    def run(self, case: int, system: System, y: Floats) -> None:
        """Run a case from the state y of its bodies on.

        Raises
        ------
        Stopped
        """
        start = None if y is system.state.y else State(system.body_names, y)  # which is checked again
        try:
            run, reached = simulated(system, start, self.task)
        except ModelError as error:
            self.chunk.messages[self.chunk.first + case] = str(error)
            return
        self.keep(case, run, reached, y)

    def keep(self, case: int, run: Run, reached: float, y: Floats) -> None:
        """Keep the results of a case, whose bodies start in the state y."""
        task, chunk, s = self.task, self.chunk, self.task.how
        chunk.status[case] = run.status
        chunk.reached[case] = reached
        chunk.keep_events(case, run)
        chunk.counts[case] = run.stats.evaluations, run.stats.steps, run.stats.rejections or 0
        text, turns = run.message, turns_at(run._turns, run.t)
        if UNKNOWN in text and not task.counts_turns:
            of_tree = turns is not None
            text = text.replace(
                remark_on_turns(run.system, s.t_start, y, run.t, run.states, s.method, of_tree=of_tree), ""
            )
        if text.partition(TURNED)[0] != message_at_end(s.t_end):  # reason of a failure, or loss of accuracy
            chunk.messages[chunk.first + case] = text
        if task.outputs is None:
            chunk.states[case, : len(run.states)] = run.states
            if turns is not None:
                missing = (0, len(s.t or ()) - len(run.t)), (0, 0)
                chunk.keep_turns(task, np.array([case]), np.pad(turns.quarters, missing, "edge")[None])
            self.begun.setdefault(turns is not None, []).append((case, y))
            return
        try:
            chunk.states[case] = columns_of_run(task.outputs, run, len(s.t or ()))
            if remark := undetermined_outputs(run, task.outputs):
                chunk.say(np.array([case]), 0, remark)
        except ModelError as error:
            chunk.say(np.array([case]), 0, str(error))

    def end(self) -> None:
        """Keep what is found for all runs at once."""
        for of_tree, begun in self.begun.items():
            cases, starts = zip(*begun, strict=True)
            self.chunk.keep_starts(self.task, np.array(cases), partial(np.array, starts), of_tree=of_tree)
