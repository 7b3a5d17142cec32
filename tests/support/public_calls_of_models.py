"""Public functions of ``models``, and those of reports, each with arguments with which it works."""

import dataclasses
from pathlib import Path

import numpy as np

import models
from models import walking
from models.rotations import about
from models.walking import filters, synthetic
from runtime import report
from runtime.figures import FigureFormat, lines, panels
from runtime.report import cone_plots, plots


# A table.
def reports(w):
    """Tables and figures."""
    runs, poses = {"a": w.run}, {"a": {0.0: {"rod": np.eye(3)}}}
    return {
        "write_report": (
            report.write_report,
            dict(report=report.Report("a", [w.table]), folder=Path("."), pdf=False, overwrite=True),
        ),
        "panels.figure": (panels.figure, dict(rows=1, columns=1, width=4.0, height=3.0)),
        "lines.style": (lines.style, dict(number=1, label="a")),
        "lines.of_many": (lines.of_many, dict(number=1)),
        "lines.fill": (lines.fill, dict(number=1, label="a")),
        "plots.trajectories": (plots.trajectories, dict(groups={"a": runs}, body="rod", planes=("sagittal",))),
        "plots.velocities_and_accelerations": (plots.velocities_and_accelerations, dict(runs=runs, body="rod")),
        "plots.phase_portraits": (plots.phase_portraits, dict(runs=runs, body="rod")),
        "plots.energies": (plots.energies, dict(runs=runs)),
        "plots.mechanical_energies": (plots.mechanical_energies, dict(groups={"a": runs})),
        "plots.bars": (plots.bars, dict(groups=["a"], panels={"p": {"b": [1.0]}}, ylabel="c")),
        "plots.over_time": (
            plots.over_time,
            dict(runs=runs, quantities={"a": lambda run: run.energy}, span=(0.0, 0.1), differences=False),
        ),
        "plots.curves": (plots.curves, dict(series={"a": (w.t, w.t)}, xlabel="b", ylabel="c")),
        "plots.charts": (plots.charts, dict(charts=[w.chart], xlabel="a", columns=1)),
        "panels.file_of": (panels.file_of, dict(folder=Path("a"), name="b", kind="png")),
        "cone_plots.latitudes": (cone_plots.latitudes, dict(runs=runs, limit="pivot")),
        "cone_plots.angles": (cone_plots.angles, dict(groups={"a": runs}, limits={"pivot": {"b": 20.0}}, until=1.0)),
        "cone_plots.moments": (cone_plots.moments, dict(runs=runs, limits=["pivot"])),
        "cone_plots.top_view": (
            cone_plots.top_view,
            dict(runs=runs, limits={"pivot": w.limit.cone}, until=0.1, zooms={"pivot": (0.0, 1.0, 0.5)}),
        ),
        "FigureFormat.named": (FigureFormat.named, dict(text="png,svg", dpi=150)),
        "plots.snapshots": (plots.snapshots, dict(poses=poses, planes=("sagittal",))),
    }


# A table.
def of_models():
    """The functions of ``models`` that build systems, and of walking that take plain data."""
    t = np.linspace(0.0, 1.0, 50)
    return {
        "models.foot.build": (
            models.foot.build,
            dict(
                ankle="modified",
                side="left",
                subtalar_inclination_deg=42.0,
                subtalar_deviation_deg=23.0,
                talocrural_inclination_deg=10.0,
                talocrural_deviation_deg=6.0,
                link_length=0.04,
                mass=60.0,
                height=1.7,
                foot_length=0.25,
                limits="elastic",
                dorsiflexion_deg=20.0,
                plantarflexion_deg=40.0,
                inversion_deg=30.0,
                eversion_deg=15.0,
                preset="published",
                law="conservative",
                toes="sprung",
                leg="free",
                posture_deg=(5.0, 2.0, 1.0),
                ankle_deg=(5.0, 2.0),
                velocity=(0.1, 0.0, 0.0),
                ground=True,
                sole="normal",
                clearance=0.05,
                incline_deg=10.0,
                descent_deg=-90.0,
                friction="coulomb",
                mu_c=1.0,
                mu_d=3.0,
                transition_velocity=1e-3,
                sole_stiffness=1e5,
                sole_damping=10.0,
                orthosis="stiff",
                ligaments="plantar_fascia",
                gravity=(0, 0, -9.81),
                check_units=True,
            ),
        ),
        "models.foot_ground.build": (
            models.foot_ground.build,
            dict(
                shape="normal",
                friction="coulomb",
                mu_c=0.1,
                mu_d=0.0,
                stiffness=1e5,
                damping=10.0,
                height=0.1,
                pitch_deg=5.0,
                speed=1.0,
                transition_velocity=1e-3,
                mass=60.0,
                body_height=1.7,
                foot_length=0.25,
                check_units=False,
            ),
        ),
        "models.foot_sole.spheres": (models.foot_sole.spheres, dict(shape="normal")),
        "models.pendulum.build": (
            models.pendulum.build,
            dict(
                kind="planar",
                limits="dissipative",
                length=0.3,
                mass=1.0,
                inertia=(0.01, 0.01, 0.01),
                angle=0.5,
                longitude=None,
                omega=(0, 0, 0),
                gravity=(0, 0, -9.81),
                cone=None,
                compliance=0.1,
                max_moment=10.0,
                damping=1.0,
                law="conservative",
                check_units=False,
            ),
        ),
        "models.chain.build": (
            models.chain.build,
            dict(links=2, joint="revolute", length=0.1, mass=0.1, check_units=False),
        ),
        "models.double_pendulum.build": (
            models.double_pendulum.build,
            dict(lengths=(0.5, 0.4), masses=(1, 1), omega=(0, 0, 1), gravity=(0, 0, -9.81), check_units=False),
        ),
        "models.four_bar.build": (
            models.four_bar.build,
            dict(
                joints="independent",
                crank=0.2,
                coupler=0.5,
                rocker=0.4,
                base=0.5,
                crank_angle=1.0,
                crank_speed=1.0,
                density=2.0,
                gravity=(0, 0, -9.81),
                check_units=False,
            ),
        ),
        "models.free_body.build": (
            models.free_body.build,
            dict(mass=1.0, inertia=(1, 1, 1), omega=(0, 0, 1), v=(0, 0, 0), gravity=(0, 0, 0), check_units=False),
        ),
        "models.hooke_shaft.build": (
            models.hooke_shaft.build,
            dict(bend=0.5, speed=10.0, length=0.3, mass=1.0, radius=0.02, check_units=False),
        ),
        "walking.synthetic.build": (synthetic.build, dict(time=0.1)),
        "walking.synthetic.angle": (synthetic.angle, dict(joint="talocrural", t=t, derivative=0)),
        "walking.synthetic.trial": (synthetic.trial, dict(rate=100.0)),
        "walking.synthetic.exact": (synthetic.exact, dict(t=t)),
        "walking.norms.band": (walking.norms.band, dict(name="toe_extension")),
        "walking.Filters": (
            walking.Filters,
            {field.name: getattr(walking.Filters(), field.name) for field in dataclasses.fields(walking.Filters)},
        ),
        "walking.Anatomy": (
            walking.Anatomy,
            dict(
                subtalar_inclination_deg=42.0,
                subtalar_deviation_deg=20.0,
                talocrural_inclination_deg=5.0,
                talocrural_deviation_deg=6.0,
                link_length=0.04,
                inertia="winter",
                check_units=True,
            ),
        ),
        "walking.functional_axes": (
            walking.functional_axes,
            dict(subject=synthetic.subject(), trial=synthetic.trial(25.0)),
        ),
        "walking.axes_of_many": (
            walking.axes_of_many,
            dict(subjects=[walking.axes_posterior(synthetic.subject(), [synthetic.trial(25.0)])] * 2),
        ),
        "walking.axes_posterior": (
            walking.axes_posterior,
            dict(
                subject=synthetic.subject(),
                trials=[synthetic.trial(25.0)],
                prior=walking.population_prior(synthetic.subject()),
            ),
        ),
        "walking.fit_joints": (
            walking.fit_joints,
            dict(motions=[walking.BoneMotion("a", about(np.eye(3)[0], t - 0.5), np.zeros((50, 3)))], joints=["hinge"]),
        ),
        "walking.population_prior": (walking.population_prior, dict(subject=synthetic.subject())),
        "walking.scale_to_subject": (
            walking.scale_to_subject,
            dict(
                static=synthetic.static(),
                side="right",
                markers=synthetic.MARKERS,
                mass=70.0,
                height=1.7,
                sex="male",
                anatomy=walking.Anatomy(inertia="winter"),
            ),
        ),
        "walking.compare_curves": (
            walking.compare_curves,
            dict(
                a=np.sin(np.arange(404.0)).reshape(4, 101),
                b=np.cos(np.arange(303.0)).reshape(3, 101),
                paired=False,
                alpha=0.05,
            ),
        ),
        "walking.leg_foot.build": (
            walking.leg_foot.build,
            dict(subject=synthetic.subject(), coordinates=synthetic.coordinates(), ground=synthetic.ground(), time=0.1),
        ),
        "walking.write_leg": (
            walking.write_leg,
            dict(
                subject=synthetic.subject(), file="leg.osim", upper=synthetic.upper_leg(), strength=1.0, overwrite=True
            ),
        ),
        "walking.with_own_forces": (
            walking.with_own_forces,
            dict(trial=synthetic.trial(25.0), side="right", markers=synthetic.MARKERS),
        ),
        "walking.scale_sole": (walking.scale_sole, dict(subject=synthetic.subject())),
        "walking.rebuild": (walking.rebuild, dict(subject=synthetic.subject(), trial=synthetic.static())),
        "walking.segment_pose": (walking.segment_pose, dict(subject=synthetic.subject(), trial=synthetic.static())),
        "walking.analyse": (
            walking.analyse,
            dict(
                static=synthetic.static(),
                trial=synthetic.trial(),
                side=None,
                mass=None,
                height=None,
                sex=None,
                markers=synthetic.MARKERS,
                filters=walking.Filters(),
                toes="auto",
                anatomy=walking.Anatomy(subtalar_inclination_deg=42.0),
                subject=None,
                functional=None,
                axes="rule",
            ),
        ),
        "walking.filters.lowpass": (
            filters.lowpass,
            dict(values=np.sin(t), rate=50.0, cutoff=6.0, order=2, ends="mirror", name="a"),
        ),
        "walking.filters.bandpass": (
            filters.bandpass,
            dict(values=np.sin(t), rate=50.0, low=2.0, high=20.0, order=2, name="a"),
        ),
        "walking.filters.fill_gaps": (filters.fill_gaps, dict(t=t, values=np.sin(t), limit=0.1, name="a")),
        "walking.filters.resample": (filters.resample, dict(t=t, values=np.sin(t), to=t[:5], name="a")),
    }
