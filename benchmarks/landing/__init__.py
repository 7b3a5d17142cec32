"""Landings of OpenSim models on their contacts, by Talus and by OpenSim."""
