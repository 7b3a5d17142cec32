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


def made(study, t_end=SHORT):
    """A fixture: folder and report of a study, and the faults of its figures."""

    @pytest.fixture(scope="session")
    def short_study(tmp_path_factory):
        folder = tmp_path_factory.mktemp("study")
        with faults_of_figures() as faults:
            return folder, study(folder, quiet, t_end=t_end), faults

    return short_study


ankle, pendulum, drop = made(ankle_study.ankle), made(pendulum_study.study), made(drop_study.drop, 0.5)
