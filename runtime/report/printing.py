"""Pages as PDF, by a printer of pages that the machine has: Chromium or a browser built on it, or WeasyPrint."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from importlib.util import find_spec
from pathlib import Path

from runtime.support.errors import ModelError
from runtime.support.files import write_bytes

BROWSERS = (
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "chrome",
    "msedge",
    "brave-browser",
)
INSTALLED = (  # browsers that are not on the path
    Path("/Applications/Google Chrome.app/Contents/MacOS/Google Chrome"),
    Path("/Applications/Chromium.app/Contents/MacOS/Chromium"),
    Path("C:/Program Files/Google/Chrome/Application/chrome.exe"),
    Path("C:/Program Files (x86)/Microsoft/Edge/Application/msedge.exe"),
)
TIMEOUT = 60.0  # [s]
NONE = "no printer of pages is installed: install Chromium, Chrome or Edge, or WeasyPrint: pip install 'talus-multibody[pdf]'"


def browser() -> str | None:
    """The program of a browser that prints pages."""
    named = next((found for name in BROWSERS if (found := shutil.which(name))), None)
    return named or next((str(file) for file in INSTALLED if file.is_file()), None)


def missing() -> str:
    """What printing needs and is not installed, with how to install it; empty where nothing is."""
    return NONE if browser() is None and find_spec("weasyprint") is None else ""


def print_page(page: Path, file: Path) -> Path:
    """Print a page as PDF by the printer that is installed; returns the file.

    Raises
    ------
    ModelError
        The printer fails; with its last line.
    """
    program = browser()
    return write_bytes(file, _by_weasyprint(page) if program is None else _by_browser(program, page))


def _by_browser(program: str, page: Path) -> bytes:
    with tempfile.TemporaryDirectory(prefix="talus-print-") as own:
        printed = Path(own) / "page.pdf"
        command = [
            program, "--headless", "--disable-gpu", "--disable-extensions", "--disable-background-networking", "--no-first-run",
            "--host-resolver-rules=MAP * ~NOTFOUND", f"--user-data-dir={own}/profile", "--no-pdf-header-footer",
            *(["--no-sandbox"] if getattr(os, "geteuid", lambda: 1)() == 0 else []),  # refused to the administrator otherwise
            f"--print-to-pdf={printed}", page.resolve().as_uri(),
        ]  # fmt: skip
        try:
            done = subprocess.run(
                command, capture_output=True, text=True, errors="replace", timeout=TIMEOUT, check=False
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise ModelError(f"{page.name}: {program} does not print it: {error}") from None
        if not printed.is_file():
            last = (done.stderr.strip() or "no message").splitlines()[-1]
            raise ModelError(f"{page.name}: {program} does not print it (exit code {done.returncode}): {last}")
        return printed.read_bytes()


def _by_weasyprint(page: Path) -> bytes:
    try:
        import weasyprint
    except OSError as error:  # its libraries for text are missing
        raise ModelError(f"{page.name}: WeasyPrint cannot print it: {error}") from None
    return weasyprint.HTML(filename=str(page)).write_pdf()
