"""Events that compiled code found in the cases of a chunk, and cases that end at terminal ones."""

from __future__ import annotations

import numpy as np

from runtime.dynamics.status import Status
from runtime.ensemble.kept_outputs import places_of
from runtime.ensemble.task import Chunk, Task
from runtime.integrate.batches.event_memory import EVENT, TIME
from runtime.integrate.stepwise import stopped_by
from runtime.support.arrays import Floats, Ints


def keep_events(task: Task, chunk: Chunk, numbers: Ints, rows: Floats, counts: Ints, status: Ints) -> None:
    """Keep the events of cases of these numbers in a chunk, whose results it has, and end those that a terminal event stopped.

    rows (cases, any, 2 + 13 bodies): number of the event, time [s] and state of each, of which a case has ``counts`` (cases,)
    """
    found = np.arange(rows.shape[1]) < counts[:, None]
    if not found.any():
        return
    of_cases = np.broadcast_to(chunk.first + numbers[:, None], found.shape)[found]
    chunk.events.append((of_cases, rows[found]))
    stops = np.array([event.terminal for event in task.events])[rows[..., EVENT].astype(int)]
    last = found & stops & (rows[..., TIME] == chunk.reached[numbers][:, None])
    first = np.where(last, rows[..., EVENT], len(task.events)).min(axis=1)
    for k in np.flatnonzero(status == Status.STOPPED_BY_EVENT).tolist():
        case, t = int(numbers[k]), float(chunk.reached[numbers[k]])
        chunk.status[case], chunk.messages[chunk.first + case] = stopped_by(task.events[int(first[k])], t)
        _cut(task, chunk.states[case], t)


def _cut(task: Task, kept: Floats, t: float) -> None:
    """Remove from what is kept of a case what is later than a time [s], as of a single run that ended there."""
    late = np.array(task.how.t or ()) > t
    if task.outputs is None:
        kept[late] = np.nan
        return
    for name, place in places_of(task.outputs).items():
        output = task.outputs[name]
        if not output.reduction:
            kept[place].reshape(output.shape)[late] = np.nan
        elif late.any():
            kept[place] = np.nan
