"""Mechanics of models from files, query by query, against MuJoCo, Pinocchio and OpenSim."""
