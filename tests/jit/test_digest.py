"""The digest that names the cache folder covers all compiled code and all that compiled code takes values from."""

import re
import time
from concurrent.futures import ThreadPoolExecutor

from numba.core import config

from runtime.jit import cache
from tests.support.paths import ROOT


def covered():
    """The modules of the runtime whose text is part of the digest."""
    return {file for file in (ROOT / "runtime").glob("*.py") if file.stem not in cache.EDGE}


def name_of(file):
    return ".".join(file.relative_to(ROOT).with_suffix("").parts)


def test_the_digest_covers_all_compiled_code_and_what_it_imports():
    modules = {file: file.read_text(encoding="utf-8") for file in (ROOT / "runtime").rglob("*.py")}
    compiling = {file for file, text in modules.items() if "@compiled" in text or "@inlined" in text}
    assert {"equations", "dop853", "limits", "cones"} <= {file.stem for file in compiling}
    assert compiling <= covered()
    outside = [re.escape(name_of(file)) for file in modules.keys() - covered() if file.stem != "__init__"]
    importing = re.compile(rf"^(from|import) ({'|'.join(outside)})\b", re.MULTILINE)
    assert not [name_of(file) for file in compiling if importing.search(modules[file])]


def test_threads_do_not_disturb_where_compiled_code_is_kept():
    before, folder, seen = config.CACHE_DIR, str(cache.compiled_folder()), set()

    def use(_):
        with cache.cached_here():
            seen.add(config.CACHE_DIR)
            time.sleep(1e-3)
            seen.add(config.CACHE_DIR)

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(use, range(40)))
    assert seen == {folder} and config.CACHE_DIR == before
