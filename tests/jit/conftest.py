"""A copy of the packages, whose files a test may edit, with a cache folder of its own."""

import os
import shutil
import subprocess
import sys

import pytest

from tests.support.paths import ROOT


class Copy:
    """The packages in a folder of their own."""

    def __init__(self, folder):
        self.folder, self.cache = folder, folder / "cache"
        for package in ("codegen", "generated", "runtime"):
            shutil.copytree(ROOT / package, folder / package)

    def python(self, *arguments):
        """A Python process that finds the copy and keeps compiled code beside it."""
        environment = {
            **os.environ, "PYTHONPATH": str(self.folder), "TALUS_CACHE_DIR": str(self.cache),
            "PYTHONDONTWRITEBYTECODE": "1",  # two edits within a second leave the same time stamp
        }  # fmt: skip
        command = [sys.executable, *arguments]
        return subprocess.run(command, cwd=self.folder, env=environment, capture_output=True, text=True)

    def numbers(self, *arguments):
        """The numbers that a program prints."""
        done = self.python(*arguments)
        assert done.returncode == 0, done.stderr
        return [float(number) for number in done.stdout.split()]

    def edit(self, path, before, after):
        """Replace a text in a file."""
        file = self.folder / path
        text = file.read_text(encoding="utf-8")
        assert before in text
        file.write_text(text.replace(before, after), encoding="utf-8")


@pytest.fixture
def copy(tmp_path):
    return Copy(tmp_path)
