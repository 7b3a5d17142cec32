"""Benchmarks: one module per question asked of cost or accuracy; ``python -m benchmarks QUESTION``."""
