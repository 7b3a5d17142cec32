"""References of the data and proportions that the analysis of a walk uses."""

SOURCES = (
    "C. Schreiber, F. Moissenet: A multimodal dataset of human gait at different walking speeds established on injury-free adult "
    "participants, Scientific Data 6, 111 (2019), doi 10.1038/s41597-019-0124-4, CC BY 4.0; norms, averaged and fitted.",
    "biomechZoo, github.com/PhilD001/biomechZoo, Apache-2.0; norms of toes and hindfoot, Oxford foot model, fitted.",
    "M. H. Schwartz, A. Rozumalski, J. P. Trost: The effect of walking speed on the gait of typically developing children, "
    "Journal of Biomechanics 41, 1639-1650 (2008), as tabulated in biomechZoo; norms at five speeds, fitted.",
    "P. de Leva: Adjustments to Zatsiorsky-Seluyanov's segment inertia parameters, Journal of Biomechanics 29, 1223-1230 (1996); "
    "masses and inertia of the segments.",
    "R. E. Isman, V. T. Inman: Anthropometric studies of the human foot and ankle, Bulletin of Prosthetics Research 10-11, "
    "97-129 (1969); talocalcaneal axis.",
    "V. T. Inman: The joints of the ankle, Williams and Wilkins (1976); talocrural axis.",
)
