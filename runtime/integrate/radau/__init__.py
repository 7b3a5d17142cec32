"""Radau IIA of fifth order for stiff motion: coefficients, the linear parts, the iteration of Newton, the step."""
