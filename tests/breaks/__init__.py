"""Deliberate breaks of rules of physics, numerics and behaviour, each with the narrowest tests that must fail on it.

``rules/*.toml`` hold them: a rule in words, and an entry for each place where it is stated.  When code moves, the entries of a
rule move with it, and become one where the rule is stated once.  ``python -m tests.breaks`` runs them.
"""
