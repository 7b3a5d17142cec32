"""Compilation, its cache under the digest of the sources, and calls by address.  May import: `support`, `generated`."""
