"""Compiled code for a cache folder of a test's own, so that its processes compile only what the test is about."""

import re
import shutil

from runtime.jit.cache import digest_of, sources
from runtime.jit.freshness import ROOT, text_of
from runtime.jit.machine_code import digest_of_kernel
from runtime.jit.place import NAME, cache_folder

CODE = re.compile(r"[\w.]+-[0-9a-f]{20}")  # neither locks nor parts of files


def copied_code(folder, without=()):
    """A folder for TALUS_CACHE_DIR with the code of the tests, but for functions whose names begin with one of ``without``.

    What is missing is compiled, as in an empty folder.
    """
    for digest in _digests():
        for file in (cache_folder() / digest).glob("*"):
            if CODE.fullmatch(file.name) and not file.name.startswith(tuple(without)):
                (folder / NAME / digest).mkdir(parents=True, exist_ok=True)
                shutil.copyfile(file, folder / NAME / digest / file.name)
    return folder


def _digests():
    """Names of the folders with code of the present sources."""
    kernels = [file for place in ("generated", "generated/whole") for file in (ROOT / place).glob("*.py")]
    modules = [".".join(file.relative_to(ROOT).with_suffix("").parts) for file in sources()]
    return {digest_of_kernel(text_of(file)) for file in kernels} | {*map(digest_of, modules)}
