"""Public functions of trials of models from files, each with arguments with which it works."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np

import models
from models import walking
from models.walking import FittedMotion
from models.walking.gait_events import GaitCycle
from runtime.analysis import ChainLink, PointChain
from tests.support.electromyograms import burst, carried, channels, times
from tests.support.limb_muscles import muscles
from tests.support.marked_limbs import marked, plates_of, read, smooth, trial_of

TASKS = """<OpenSimDocument Version="40000"><IKTaskSet><objects><IKMarkerTask name="heel"><weight>1</weight></IKMarkerTask>
 </objects></IKTaskSet></OpenSimDocument>"""

TURN = ("turn", (0.0, 0.0, 1.0), (0.0, 0.0, 0.0))
LINK = ChainLink(-1, (0.0, 0.1, 0.0), np.eye(3), [TURN])
ONE = np.ones((2, 1))


def limb(folder):
    """A model with markers, a trial with force plates, its motion and its forces."""
    reading = read(folder, marked(more=muscles()))
    q = smooth(reading)
    trial = trial_of(reading, q, forces=plates_of(reading, q)[0])
    motion = walking.inverse_kinematics(reading, trial)
    (folder / "tasks.xml").write_text(TASKS)
    t = times(1.0)
    analog = channels(t, R_soleus=carried(t, burst(t, 0.5)), other=carried(t, burst(t, 0.6)))
    recorded = replace(trial, analog=analog)
    swapped = models.swap(reading, "ankle_r", "subtalar_r")
    forces, _ = walking.loads_of_plates(reading, motion, trial, ["calcn_r", "calcn_l"])
    dynamics = walking.inverse_dynamics_of_trial(reading, motion, forces)
    return SimpleNamespace(
        reading=reading,
        trial=trial,
        motion=motion,
        swapped=swapped,
        forces=forces,
        dynamics=dynamics,
        pull=walking.static_optimisation(reading, dynamics),
        tasks=folder / "tasks.xml",
        recorded=recorded,
        emg=walking.emg(recorded),
    )


# A table.
def of_trials(w):
    """Calls by name."""
    one = limb(w.folder)
    part = dict(start=0.4, end=0.5, up=None, units=None)
    fields = vars(one.motion)
    chain = PointChain([LINK], [0], [(0, (0.1, 0.0, 0.0))], 1)
    return {
        "models.swap": (
            models.swap,
            dict(
                reading=one.reading, ankle="ankle_r", subtalar="subtalar_r", with_="modified_universal", talus="foot",
                talus_length=0.04, along="centres", axes=None, subtalar_axis=None, subtalar_point=None, side=None,
                unlock=False, check_units=True,
            ),
        ),
        "Reading.coordinate_values": (one.reading.coordinate_values, dict(values={"knee_angle_r": 0.3})),
        "inverse_kinematics": (
            walking.inverse_kinematics,
            dict(
                reading=one.reading, markers=one.trial, tasks=None, weights={"heel": 2.0}, coordinates={"pelvis_x": (0.0, 0.1)},
                labels={"heel": "heel"}, **part,
            ),
        ),
        "inverse_dynamics_of_trial": (
            walking.inverse_dynamics_of_trial,
            dict(reading=one.reading, motion=one.motion, loads=one.forces, cutoff=6.0, order=3, t_eval=None, start=0.4, end=0.5),
        ),
        "loads_of_plates": (
            walking.loads_of_plates,
            dict(reading=one.reading, motion=one.motion, trial=one.trial, feet=["calcn_r", "calcn_l"]),
        ),
        "residuals": (walking.residuals, dict(reading=one.reading, trial=one.dynamics)),
        "compare_ankles": (
            walking.compare_ankles,
            dict(
                reading=one.reading, markers=one.trial, loads=None, ankles=[("ankle_r", "subtalar_r")], sorts=["universal"],
                talus_length=0.04, axes=None, subtalar_axis=None, subtalar_point=None, talus="foot", unlock=False,
                feet=["calcn_r", "calcn_l"], mass=None, cutoff=6.0, say=None, muscles=False,
                **part,
            ),
        ),
        "static_optimisation": (
            walking.static_optimisation,
            dict(
                reading=one.reading, trial=one.dynamics, coordinates=["ankle_angle_r"], muscles=["soleus_r"], cost="stress",
                exponent=2.0, force_length_velocity=True, passive=True, law="thelen_as_published", bounds=(0.0, 1.0),
                reserve={"ankle_angle_r": 2.0}, as_opensim=False,
            ),
        ),
        "joint_contacts": (
            walking.joint_contacts,
            dict(reading=one.reading, trial=one.dynamics, muscles=one.pull, joints=["ankle_r"]),
        ),
        "emg": (
            walking.emg,
            dict(
                trial=one.recorded, maximum=[one.recorded], channels={"tib_ant_r": "other"}, band=(30.0, 300.0), cutoff=8.0,
                order=3,
            ),
        ),
        "Electromyograms": (walking.Electromyograms, vars(one.emg)),
        "Electromyograms.over_cycle": (
            one.emg.over_cycle,
            dict(cycle=GaitCycle("right", 0.1, 0.6, 0.9, "file", ("plate",), True)),
        ),
        "Electromyograms.agreement": (
            one.emg.agreement,
            dict(t=one.dynamics.t, activations={"a": one.dynamics.t}, pairs={"soleus_r": "a"}),
        ),
        "FittedMotion": (FittedMotion, fields),
        "ChainLink": (ChainLink, dict(parent=-1, position=(0.0, 0.1, 0.0), rotation=np.eye(3), steps=[TURN])),
        "PointChain": (PointChain, dict(links=[LINK], leads=[0], points=[(0, (0.1, 0.0, 0.0))], coordinates=1)),
        "PointChain.places": (chain.places, dict(amounts=ONE)),
        "PointChain.places_and_velocities": (chain.places_and_velocities, dict(amounts=ONE, slopes=ONE)),
        "PointChain.normal_equations": (
            chain.normal_equations,
            dict(amounts=ONE, slopes=ONE, observed=np.ones((2, 1, 3)), weights=np.ones((2, 1))),
        ),
        "FittedMotion.to_mot": (one.motion.to_mot, dict(file="a.mot", overwrite=True)),
        "read_marker_tasks": (models.files.read_marker_tasks, dict(file=one.tasks)),
        "write_swapped": (models.files.write_swapped, dict(reading=one.swapped, file="a.osim", overwrite=True)),
    }  # fmt: skip
