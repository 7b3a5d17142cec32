"""What a run can be asked for, and what it gets unasked: names of methods and default tolerances.  Imports nothing."""

SCIPY_METHODS = ("RK23", "RK45", "DOP853", "Radau", "BDF", "LSODA")
COMPILED_METHODS = ("auto", "dop853", "radau")
METHODS = (*COMPILED_METHODS, *SCIPY_METHODS)
RTOL = ATOL = 1e-11
AUTO, ABSOLUTE, JOINT = COORDINATES = ("auto", "absolute", "joint")
