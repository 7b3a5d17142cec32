"""Version of Talus."""

__version__ = "0.2.0"
