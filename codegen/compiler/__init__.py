"""The compiler of definitions: calculus, derivation, emission, and the tracing of whole models.

``codegen/__init__.py`` states the stages.  ``calculus`` and ``declarations`` are the language of the dictionary.

May import: sympy, numpy, the standard library, and modules of this folder; not the dictionary (``codegen.joints`` ...), which
``codegen/__main__.py`` hands over.
"""
