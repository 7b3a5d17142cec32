"""Walking: from the recordings of a motion laboratory to joint moments, and to the ground's force on a modelled sole.

What lives here, from the bottom up; each module imports only from those above it in this list, from the published foot
(``models.foot``, ``models.foot_ground``) and from ``runtime``:

``capture``, ``filters``, ``gait_events``
    Recordings of markers and forces from files; low-pass filters and gaps; foot strikes, feet on plates, gait cycles.
``geometry``, ``schwartz_norms``, ``norms``, ``marker_sets``
    Rotations; normative curves, those of knee and hip first, and the motion of one walker; labels and landmarks.
``subject``, ``anthropometry``, ``anatomy``, ``scaling``, ``segment_motion``
    A subject's bodies and joint axes as data; masses and inertia; what a user knows better; all from a standing trial; the
    motion of each body by its own markers.
``two_hinges``, ``hinge_fit``, ``axes_density``, ``axes_posterior``, ``axes_of_many``
    The markers of the foot as both axes and angles move them; the axes of the ankle from the motion of a subject's own markers;
    with a population prior and a model of the skin.
``bone_motion``, ``joint_fit``
    The measured motion of two bones; which joint it fits.
``leg_foot``, ``forward_simulation``, ``synthetic``
    The driven leg and foot; its forward simulation by computed moments; a synthetic trial with a known answer.
``gait_result``, ``preparation``, ``ground_loads``, ``upper_leg``, ``analysis``
    Result of a trial; gaps, filters and gait cycle; the measured force as loads; pelvis and thigh, with the loads of knee and
    hip; inverse dynamics of a trial.
``sole``, ``contact``, ``contact_residuals``, ``contact_fit``
    Spheres under the foot; the force that they predict; its distance from the measured one; the fit of a sole.
``muscle_names``, ``electromyograms``
    Names of muscles in recordings and models; envelopes of electromyograms, and their agreement with activations.
``cycle_curves``, ``axes_bands``, ``both_feet``, ``subject_table``, ``curve_tests``, ``subject_curves``, ``subjects``
    Curves and values of a trial; what uncertain axes make of them; all trials of a subject; a table of subjects; comparison of
    two sets of curves; the curves of many subjects; their analysis.
``fitted_motion``, ``opensim_trial``, ``marker_problem``, ``inverse_kinematics``
    The motion of a model of OpenSim that follows markers; inverse dynamics along a motion; many poses by least squares;
    coordinates from markers.
``coordinate_forces``, ``pair_loads``, ``orthosis_loads``, ``muscle_strength``, ``activation_problem``,
``static_optimisation``, ``joint_contact``
    Springs and limits of coordinates; forces between two links of a known motion, such as bushings, and those of an orthosis;
    what muscles can exert; activations of least cost; those of a trial; forces that joints transmit.
``plate_loads``, ``residuals``, ``swapped_ankle``, ``generic_muscles``, ``generic_leg``, ``gait_muscles``
    Force plates on the feet of a model; what inverse dynamics leaves at the pelvis; a trial with each kind of ankle; muscles on
    the bones of a subject; a subject's leg as a model of OpenSim; the muscles of an analysed walk.
``whole_body``, ``plantar``, ``pressure_path``, ``plantar_fit``, ``plantar_data``,
``foot_correction``, ``plantar_load``
    The force on both feet from markers; a sole in two rows for all feet; the path of the centre of pressure; the fit of both to
    many adults, and the fitted values; lift, tilt and roll of a foot; the force on it from markers alone.

>>> one = walking.analyse(static, trial, filters=walking.Filters(markers=6.0))
>>> one.moments["talocrural"]
>>> walking.predict_ground_force(one, walking.fit_sole(one).sole).errors().vertical
"""

from models.walking import leg_foot, norms, synthetic
from models.walking.analysis import analyse
from models.walking.anatomy import Anatomy
from models.walking.axes_bands import AxesBands, axes_bands
from models.walking.axes_of_many import AxesOfMany, axes_of_many
from models.walking.axes_posterior import AxesPosterior, AxesPrior, axes_posterior, population_prior
from models.walking.bone_motion import BoneMotion, read_bones
from models.walking.contact import Prediction, predict_ground_force
from models.walking.contact_fit import SoleFit, fit_sole
from models.walking.curve_tests import CurveTest, compare_curves
from models.walking.electromyograms import Electromyograms, emg
from models.walking.fitted_motion import FittedMotion
from models.walking.gait_muscles import muscles_of_walk
from models.walking.gait_result import Gait
from models.walking.generic_leg import with_own_forces, write_leg
from models.walking.hinge_fit import FunctionalAxes, FunctionalAxis, functional_axes
from models.walking.inverse_kinematics import inverse_kinematics
from models.walking.joint_contact import JointContact, joint_contacts
from models.walking.joint_fit import JointComparison, JointFit, fit_joints
from models.walking.opensim_trial import Trial, inverse_dynamics_of_trial
from models.walking.plantar import PlantarSole
from models.walking.plantar_fit import PlantarModel
from models.walking.plantar_load import PlantarLoad, predict_from_markers
from models.walking.plate_loads import loads_of_plates
from models.walking.preparation import Filters
from models.walking.residuals import Residual, Residuals, residuals
from models.walking.scaling import scale_to_subject
from models.walking.segment_motion import rebuild, segment_pose
from models.walking.sole import Floor, Sole, floor_of, scale_sole
from models.walking.static_optimisation import MuscleForces, static_optimisation
from models.walking.subject import LegFoot
from models.walking.subject_curves import Subjects
from models.walking.subject_table import SubjectTable, read_subject_table
from models.walking.subjects import analyse_subjects
from models.walking.swapped_ankle import AnkleComparison, AnkleTrial, compare_ankles
from models.walking.whole_body import BodyMotion

__all__ = [
    "Anatomy",
    "AnkleComparison",
    "AnkleTrial",
    "AxesBands",
    "AxesOfMany",
    "AxesPosterior",
    "AxesPrior",
    "BodyMotion",
    "BoneMotion",
    "CurveTest",
    "Filters",
    "Electromyograms",
    "FittedMotion",
    "Floor",
    "FunctionalAxes",
    "FunctionalAxis",
    "Gait",
    "JointComparison",
    "JointContact",
    "JointFit",
    "LegFoot",
    "MuscleForces",
    "PlantarLoad",
    "PlantarModel",
    "PlantarSole",
    "Prediction",
    "Residual",
    "Residuals",
    "Sole",
    "SoleFit",
    "SubjectTable",
    "Subjects",
    "Trial",
    "analyse",
    "analyse_subjects",
    "axes_bands",
    "axes_of_many",
    "axes_posterior",
    "compare_ankles",
    "compare_curves",
    "emg",
    "fit_joints",
    "fit_sole",
    "floor_of",
    "functional_axes",
    "inverse_dynamics_of_trial",
    "inverse_kinematics",
    "joint_contacts",
    "leg_foot",
    "loads_of_plates",
    "muscles_of_walk",
    "norms",
    "population_prior",
    "predict_from_markers",
    "predict_ground_force",
    "read_bones",
    "read_subject_table",
    "rebuild",
    "residuals",
    "scale_sole",
    "scale_to_subject",
    "segment_pose",
    "static_optimisation",
    "synthetic",
    "with_own_forces",
    "write_leg",
]
