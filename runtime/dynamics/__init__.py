"""The equations of motion in compiled code, with all their terms.  May import: `jit`, `support`, `generated`.

Compiled code takes functions and constants from `dynamics`, `integrate`, `jit` and `generated` only: the digest of these
folders names the cache.
"""
