"""The papers whose printed equations are in the registry, and which of their equations it holds."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Paper:
    """A paper, by its citation."""

    authors: str
    year: str
    transcription: str  # file in ../shared/seeds beside the repository
    numbers: range  # of the printed equations in the sections that the registry covers

    @property
    def citation(self) -> str:
        """Authors and year."""
        return f"{self.authors} ({self.year})"

    def __str__(self) -> str:
        return self.citation


RODRIGUES = "Rodrigues da Silva et al."
RODRIGUES_2024A = Paper(RODRIGUES, "2024a", "000_8b85b6cd3078d604.txt", range(1, 39))
RODRIGUES_2024B = Paper(RODRIGUES, "2024b", "003_e75bc303145abfda.txt", range(1, 36))
RODRIGUES_2024C = Paper(RODRIGUES, "2024c", "001_ce5beab66016b27f.txt", range(1, 21))
RODRIGUES_ND = Paper(RODRIGUES, "n.d.", "002_de12e220f19eaeac.txt", range(1, 24))
MOREIRA_2011 = Paper("Moreira et al.", "2011", "004_44c430766e124a2f.txt", range(1, 23))
PAPERS = (RODRIGUES_2024A, RODRIGUES_2024B, RODRIGUES_2024C, RODRIGUES_ND)  # those of joints, drivers and limits
