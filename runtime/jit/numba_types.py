"""numba's types, which are opaque to a type checker."""

from __future__ import annotations

from typing import Any

from numba.core import types as of_numba

types: Any = of_numba
