"""Columns of comma-separated tables in the shared material."""

import csv

import numpy as np

from tests.support.paths import shared_file


def rows_of(name):
    with shared_file("gait", name).open(encoding="utf-8") as file:
        return list(csv.DictReader(line for line in file if not line.startswith("#")))


def columns(name, *names):
    rows = rows_of(name)
    return [np.array([float(row[column]) for row in rows]) for column in names]
