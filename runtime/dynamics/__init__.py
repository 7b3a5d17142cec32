"""The equations of motion in compiled code, and all that they are made of.  Imports `jit`, `support`, `generated`.

Compiled code takes functions and constants from `dynamics`, `integrate`, `jit` and `generated` only: the digest of these
folders names the cache.
"""
