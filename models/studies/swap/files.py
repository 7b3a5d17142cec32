"""Files of the swapped ankle: the model, coordinates and forces as OpenSim's tables, and all curves."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from models.files.reading import Reading
from models.files.swapped_writing import write_swapped
from models.studies import muscle_report
from models.walking.swapped_ankle import AnkleComparison
from runtime import ModelError
from runtime.results import write_columns


def model_files(swapped: Reading, folder: Path, stem: str, not_written: list[str]) -> list[Path]:
    """The model as a file of OpenSim and as Talus's own; adds why one of them was not written."""
    found = []
    try:
        found.append(write_swapped(swapped, folder / f"{stem}_swapped.osim"))
    except ModelError as error:
        not_written.append(f"{stem}_swapped.osim was not written: {error}")
    try:
        found.append(swapped.build().to_file(folder / f"{stem}_swapped.json"))
    except ModelError as error:
        not_written.append(f"{stem}_swapped.json was not written: {error}")
    return found


def trial_files(found: AnkleComparison, folder: Path) -> list[Path]:
    """Coordinates (.mot) and generalised forces (.sto) of each sort, and the curves of the ankles of all."""
    files = []
    columns = {"time [s]": next(iter(found.trials.values())).trial.t}
    for sort, one in found.trials.items():
        name = sort.replace(" ", "_")
        files.append(one.motion.to_mot(folder / f"coordinates_{name}.mot"))
        files.append(one.trial.to_sto(folder / f"inverse_dynamics_{name}.sto"))
        for pair in found.ankles.values():
            for coordinate in pair:
                columns[f"{coordinate} angle, {sort} [deg]"] = found.angle(sort, coordinate)
                columns[f"{coordinate} moment, {sort} [N m/kg]"] = found.moment(sort, coordinate)
    more, contacts = muscle_report.write_files(found, folder)
    files, columns = files + more, columns | contacts
    files.append(
        write_columns(folder / "curves.csv", list(columns), np.column_stack(list(columns.values())), digits=10)
    )
    return files
