"""Muscles of a walk by static optimisation, by Talus and by OpenSim."""
