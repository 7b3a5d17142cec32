"""References of the data and proportions that the analysis of a walk uses."""

SOURCES = (
    "C. Schreiber, F. Moissenet: A multimodal dataset of human gait at different walking speeds established on injury-free adult "
    "participants, Scientific Data 6, 111 (2019), doi 10.1038/s41597-019-0124-4, CC BY 4.0; norms, averaged and fitted.",
    "biomechZoo, github.com/PhilD001/biomechZoo, Apache-2.0; norms of toes and hindfoot, Oxford foot model, fitted.",
    "M. H. Schwartz, A. Rozumalski, J. P. Trost: The effect of walking speed on the gait of typically developing children, "
    "Journal of Biomechanics 41, 1639-1650 (2008), as tabulated in biomechZoo; norms at five speeds, fitted.",
    "P. de Leva: Adjustments to Zatsiorsky-Seluyanov's segment inertia parameters, Journal of Biomechanics 29, 1223-1230 (1996); "
    "masses and inertia of the segments.",
    "M. E. Harrington, A. B. Zavatsky, S. E. M. Lawson, Z. Yuan, T. N. Theologis: Prediction of the hip joint centre in adults, "
    "children, and patients with cerebral palsy based on magnetic resonance imaging, Journal of Biomechanics 40, 595-602 (2007).",
    "A. L. Bell, D. R. Pedersen, R. A. Brand: A comparison of the accuracy of several hip center location prediction methods, "
    "Journal of Biomechanics 23, 617-621 (1990).",
    "G. Wu et al.: ISB recommendation on definitions of joint coordinate system of various joints for the reporting of human "
    "joint motion - part I: ankle, hip, and spine, Journal of Biomechanics 35, 543-548 (2002).",
    "E. S. Grood, W. J. Suntay: A joint coordinate system for the clinical description of three-dimensional motions: application "
    "to the knee, Journal of Biomechanical Engineering 105, 136-144 (1983).",
    "R. E. Isman, V. T. Inman: Anthropometric studies of the human foot and ankle, Bulletin of Prosthetics Research 10-11, "
    "97-129 (1969); talocalcaneal axis.",
    "V. T. Inman: The joints of the ankle, Williams and Wilkins (1976); talocrural axis.",
)
DELP = (
    "S. L. Delp, J. P. Loan, M. G. Hoy, F. E. Zajac, E. L. Topp, J. M. Rosen: An interactive graphics-based model of the lower "
    "extremity to study orthopaedic surgical procedures, IEEE Transactions on Biomedical Engineering 37, 757-767 (1990), doi "
    "10.1109/10.102791; muscles, as in the model gait2392 of OpenSim, CC BY 3.0."
)
