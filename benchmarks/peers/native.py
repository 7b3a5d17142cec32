"""Equations of motion in C++, compiled, with a DOP853 like that of Talus around them.

Programs that generate C or come as C++ libraries bring no integrator, or one of low order; they get DOP853 with the usual
step control, so that the comparison is one of their evaluations.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy.integrate import DOP853

from benchmarks.peers.interface import Floats, MissingError, PeerError, Prepared, Repeated

FLAGS = ("-O3", "-march=native", "-std=c++17", "-shared", "-fPIC", "-w")

# Follows the definitions of ``derivative(x, dx)`` and ``N``.
_DRIVER = """
#include <algorithm>
#include <cmath>
extern "C" void repeat(double *x, double *dx, long times) {{
  for (long n = 0; n < times; ++n) {{ derivative(x, dx); x[0] += 1e-30 * dx[N - 1]; }}
}}
// Returns the number of evaluations, or -1; keeps at most `room` steps, each with its time, in `kept`.
extern "C" long integrate(double *x, double end, double tolerance, double *kept, long room, long *count) {{
  double k[13][N], y[N], t = 0.0, h = 1e-3;
  long evaluations = 1, refused = 0;
  auto keep = [&] {{
    if (*count < room) {{ kept[*count * (N + 1)] = t; for (int i = 0; i < N; ++i) kept[*count * (N + 1) + 1 + i] = x[i]; }}
    ++*count;
  }};
  *count = 0;
  keep();
  derivative(x, k[0]);
  while (t < end) {{
    bool last = t + 1.0001 * h >= end;
    if (last) h = end - t;
{stages}
    derivative(y, k[12]);
    evaluations += 12;
    double e5 = 0.0, e3 = 0.0;
    for (int i = 0; i < N; ++i) {{
      double scale = tolerance + tolerance * std::max(std::fabs(x[i]), std::fabs(y[i]));
      double a = ({E5}) / scale, b = ({E3}) / scale;
      e5 += a * a; e3 += b * b;
    }}
    double error = e5 == 0.0 ? 0.0 : h * e5 / std::sqrt((e5 + 0.01 * e3) * N);
    if (!(error == error) || h < 1e-12) return -1;
    double factor = error == 0.0 ? 10.0 : 0.9 * std::pow(error, -1.0 / 8.0);
    if (error < 1.0) {{
      t = last ? end : t + h;
      for (int i = 0; i < N; ++i) {{ x[i] = y[i]; k[0][i] = k[12][i]; }}
      keep();
      h *= std::min(refused ? 1.0 : 10.0, factor);
      refused = 0;
    }} else {{
      h *= std::max(0.2, factor);
      refused = 1;
    }}
  }}
  return evaluations;
}}
"""


def _sum(weights: Sequence[float]) -> str:
    return " + ".join(f"{float(w)!r} * k[{j}][i]" for j, w in enumerate(weights) if w != 0.0)


def driver() -> str:
    """C++ source of DOP853 with the coefficients of SciPy."""
    stages = []
    for s in range(1, DOP853.n_stages):
        stages.append(f"    for (int i = 0; i < N; ++i) y[i] = x[i] + h * ({_sum(DOP853.A[s, :s])});")
        stages.append(f"    derivative(y, k[{s}]);")
    stages.append(f"    for (int i = 0; i < N; ++i) y[i] = x[i] + h * ({_sum(DOP853.B)});")
    return _DRIVER.format(stages="\n".join(stages), E5=_sum(DOP853.E5), E3=_sum(DOP853.E3))


def compiler() -> str:
    """The C++ compiler.

    Raises
    ------
    MissingError
    """
    found = os.environ.get("CXX") or shutil.which("c++") or shutil.which("g++")
    if not found:
        raise MissingError("a C++ compiler is not installed")
    return found


def compiled(source: str, flags: Sequence[str] = ()) -> ctypes.CDLL:
    """A library of this source, compiled once for each source and set of flags.

    Raises
    ------
    MissingError, PeerError
    """
    command = [compiler(), *FLAGS, *flags]
    folder = Path(os.environ.get("TALUS_PEERS_BUILD") or tempfile.mkdtemp(prefix="talus-peers-"))
    folder.mkdir(parents=True, exist_ok=True)
    name = hashlib.sha256("\n".join([source, *command]).encode()).hexdigest()[:16]
    library = folder / f"{name}.so"
    if not library.is_file():
        text, made = folder / f"{name}.cpp", folder / f"{name}.{os.getpid()}"
        text.write_text(source, encoding="utf-8")
        done = subprocess.run([*command, str(text), "-o", str(made)], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise PeerError(f"the compiler refused {text}: {done.stderr.strip()[:300]}")
        made.rename(library)
    return ctypes.CDLL(str(library))


class Native:
    """A compiled library: ``derivative`` with the integrator around it, for a state (N,)."""

    def __init__(self, source: str, start: Floats, flags: Sequence[str] = ()) -> None:
        """``source`` defines ``static void derivative(const double *x, double *dx)``."""
        text = f"constexpr int N = {len(start)};\n{source}\n{driver()}"
        self.library, self.start = compiled(text, flags), np.array(start, float)
        self.library.integrate.restype = ctypes.c_long
        self.library.repeat.restype = None

    def prepare(self, end: float, tolerance: float, outputs: Any) -> Prepared:
        """A run at a tolerance; ``outputs(states)`` are the positions of the main foot."""
        kept = np.empty((1 << 16, len(self.start) + 1))
        last, x = 0, self.start.copy()

        def integrate(room: int) -> int:
            nonlocal last
            x[:], count = self.start, ctypes.c_long()
            numbers = (ctypes.c_double(end), ctypes.c_double(tolerance))
            last = self.library.integrate(pointer(x), *numbers, pointer(kept), ctypes.c_long(room), ctypes.byref(count))
            if last < 0:
                raise PeerError(f"the step became too small at the tolerance {tolerance:g}")
            return count.value

        def motion() -> tuple[Floats, Floats]:
            count = integrate(len(kept))
            if count > len(kept):
                raise PeerError(f"more than {len(kept)} steps")
            return kept[:count, 0].copy(), outputs(kept[:count, 1:])

        return Prepared(lambda: integrate(0), motion, lambda: last)

    def repeated(self, times: int) -> Repeated:
        """The evaluation, repeated."""
        x, dx = self.start.copy(), np.empty_like(self.start)
        return Repeated(lambda: self.library.repeat(pointer(x), pointer(dx), ctypes.c_long(times)), times)


def pointer(array: Floats) -> Any:
    return array.ctypes.data_as(ctypes.POINTER(ctypes.c_double))
