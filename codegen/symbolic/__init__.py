"""The equations of a system as expressions of SymPy and as LaTeX, by the compiler's own rules.

Imports ``codegen.compiler``, which does not import it: no kernel is derived anew after a change here.
"""
