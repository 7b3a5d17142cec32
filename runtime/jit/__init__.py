"""How compiled code is made, cached under the digest of its sources, and called.  Imports `support` and `generated`."""
