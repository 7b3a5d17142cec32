"""The sole in two rows and the mean pattern of stance, fitted to 44 feet and trials of nine adults.

Barefoot over ground at 0.9 to 2.2 m/s, 59.8 to 89.9 kg; six trials of one adult and two of each other, both feet:
    C. Schreiber, F. Moissenet, A multimodal dataset of human gait at different walking speeds, Scientific Data 6, 111 (2019),
    doi 10.1038/s41597-019-0124-4; data doi 10.6084/m9.figshare.7734767; licence CC BY 4.0.
    Changes: fitted by ``models.walking.plantar_fit``, averaged, rounded to four digits.

``python -m benchmarks contact`` fits the same to all but one adult, and compares the prediction with that adult.
"""

import numpy as np

from models.walking.plantar import PlantarSole
from models.walking.plantar_fit import PlantarModel

# fmt: off
SOLE = PlantarSole(
    stiffness=np.array([
        97.83, 8.077, 16.11, 13.65
    ]),
    heights=np.array([
        -0.01618, -0.01536, -0.0007746, -0.01952, 0.004739, 0.005, -0.035, -0.035, -0.01573, 0.003962, -0.02869,
        -0.02923
    ]),
    forward=np.array([
        0.04151, 0, -0.03116, -0.06
    ]),
    rocker=np.array([
        -0.09896, 0.004186, 0.0361
    ]),
)
PUBLISHED = PlantarModel(
    sole=SOLE,
    first=np.array([
        0.0008666, 0.005153, 0.01802, 0.05326, 0.1327, 0.2166, 0.2993, 0.3759, 0.4484, 0.5224, 0.5997, 0.6788, 0.7549,
        0.8234, 0.8808, 0.9256, 0.9589
    ]),
    last=np.array([
        0.9503, 0.9314, 0.9074, 0.8786, 0.8449, 0.8051, 0.7575, 0.6998, 0.6298, 0.5464, 0.4511, 0.3495, 0.2517, 0.162,
        0.08418, 0.04069, 0.02227
    ]),
    path=np.array([
        (0.1178, 0.003066), (0.1323, 0.001173), (0.2019, -0.01154), (0.2786, -0.02356), (0.3203, -0.0259),
        (0.3492, -0.02823), (0.3846, -0.03284), (0.4322, -0.03739), (0.4917, -0.04092), (0.5566, -0.04354),
        (0.6149, -0.04409), (0.6596, -0.04176), (0.6937, -0.0364), (0.7202, -0.02917), (0.7386, -0.02218),
        (0.7519, -0.01514), (0.763, -0.007437), (0.7725, 0.00142), (0.7806, 0.0134), (0.7932, 0.03081),
        (0.8327, 0.05763)
    ]),
    vertical=np.array([
        0.008431, 0.3477, 0.6399, 0.8668, 1.039, 1.095, 1.036, 0.9199, 0.8111, 0.7487, 0.739, 0.7727, 0.847, 0.955,
        1.069, 1.142, 1.122, 0.9565, 0.6111, 0.213, 0
    ]),
    feet=44,
)
# fmt: on
