"""Version of Talus, and how it is cited."""

__version__ = "0.3.0"
CITATION = (
    f"The Talus developers: Talus, symbolic code generation for constrained rigid multibody systems of the ankle and foot, "
    f"version {__version__}."
)
