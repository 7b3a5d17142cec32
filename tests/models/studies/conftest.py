"""Reports of short studies that several tests share."""

import pytest

from models.studies import drop as drop_study
from models.studies import pendulum as pendulum_study
from models.studies.ankle import study as ankle_study
from tests.support.layouts import faults_of_figures
from tests.support.reports import quiet

SHORT = 0.6  # [s] long enough to reach the first limit in either example


@pytest.fixture(scope="session")
def short():
    """Simulated time of the short studies [s]."""
    return SHORT


@pytest.fixture(scope="session")
def ankle(tmp_path_factory):
    """Folder and report of ``talus ankle``, and the faults of its figures."""
    folder = tmp_path_factory.mktemp("ankle")
    with faults_of_figures() as faults:
        return folder, ankle_study.ankle(folder, quiet, t_end=SHORT), faults


@pytest.fixture(scope="session")
def pendulum(tmp_path_factory):
    """Folder and report of ``talus pendulum``, and the faults of its figures."""
    folder = tmp_path_factory.mktemp("pendulum")
    with faults_of_figures() as faults:
        return folder, pendulum_study.study(folder, quiet, t_end=SHORT), faults


@pytest.fixture(scope="session")
def drop(tmp_path_factory):
    """Folder and report of ``talus drop``, and the faults of its figures."""
    folder = tmp_path_factory.mktemp("drop")
    with faults_of_figures() as faults:
        return folder, drop_study.drop(folder, quiet, t_end=0.5), faults
