"""The papers whose models and data are here, as reports cite them."""

from __future__ import annotations

PEOPLE = "M. Rodrigues da Silva, F. Marques, M. Tavares da Silva, P. Flores"
PAPERS = {
    "2024a": f"{PEOPLE}: A new skeletal model for the ankle joint complex, Multibody System Dynamics 60, 27-63 (2024), doi "
    "10.1007/s11044-023-09955-z; cited as Rodrigues da Silva et al. (2024a).",
    "2024b": f"{PEOPLE}: An improved methodology to restrict the range of motion of mechanical joints, Nonlinear Dynamics 112, "
    "4227-4256 (2024), doi 10.1007/s11071-023-09208-w; cited as Rodrigues da Silva et al. (2024b).",
    "2024c": f"{PEOPLE}: A methodology to restrict the range of motion of joints: Application to the ankle joint complex, "
    "Mechanism and Machine Theory (2024), doi 10.1016/j.mechmachtheory.2024.105654; cited as Rodrigues da Silva et al. (2024c).",
    "n.d.": "M. Rodrigues da Silva, F. Marques, S. Gonçalves, M. Tavares da Silva, P. Flores: Modeling the ankle articular "
    "complex: a computational and experimental analysis; cited as Rodrigues da Silva et al. (n.d.).",
    "2011": "P. Moreira, M. Machado, M. Tavares da Silva, P. Flores: A biomechanical multibody foot model for forward dynamic "
    "analysis for orthosis design, Semana da Escola de Engenharia, University of Minho (2011); cited as Moreira et al. (2011).",
}


def cited(*keys: str) -> list[str]:
    """References of papers."""
    return [PAPERS[key] for key in keys]
