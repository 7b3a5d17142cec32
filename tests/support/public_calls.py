"""Public functions, classes and methods, each with arguments with which it works: the world that ``any_value`` then spoils."""

import dataclasses
from pathlib import Path
from types import SimpleNamespace

import numpy as np

import models
import runtime
from runtime import analysis, ensemble, report, results, system
from runtime.figures import FigureFormat
from runtime.report import figure_files, plots
from runtime.support import results_folder
from tests.support import model_files
from tests.support.muscles import MUSCLE
from tests.support.public_calls_of_files import of_files
from tests.support.public_calls_of_models import of_models, reports
from tests.support.public_calls_of_studies import of_studies


def arm(name="arm"):
    """A builder with two bodies, a joint and a ball, ready for all that can be added."""
    b = runtime.Builder(name)
    b.body("rod", mass=1.0, inertia=(0.01, 0.01, 0.01), r=(0, 0, -0.5))
    b.body("tip", mass=1.0, inertia=(0.01, 0.01, 0.01), r=(0, 0, -1.0))
    b.joint("pivot", "spherical", "ground", "rod", s_i=(0, 0, 0), s_j=(0, 0, 0.5))
    b.joint("elbow", "revolute", "rod", "tip", s_i=(0, 0, -0.5), a_i=(0, 1, 0), s_j=(0, 0, 0), a_j=(0, 1, 0))
    return b


def guided():
    """A rod on a hinge whose angle is driven."""
    b = runtime.Builder("guided")
    b.body("rod", mass=1.0, inertia=(0.01, 0.01, 0.01), r=(0, 0, -0.5))
    b.joint("pivot", "revolute", "ground", "rod", s_i=(0, 0, 0), a_i=(0, 1, 0), s_j=(0, 0, 0.5), a_j=(0, 1, 0))
    values = dict(a_i=(0, 0, 1), h_i=(0, 1, 0), b_j=(0, 0, 1))
    b.driver("angle", "guided_angle", "rod", "ground", **values, theta_t=runtime.Signal.constant(0.0))
    return b.build()


def make_world(folder):
    """Values of Talus that calls need, by name."""
    rod = models.pendulum.build(limits="dissipative")
    foot = models.foot.build()
    ball = arm()
    ball.contact("ball", "tip", centre=(0, 0, 0), radius=0.1, law="hertz", stiffness=1e5, point=(0, 0, -1.05))
    contact = ball.build()
    t = np.linspace(0.0, 0.1, 6)
    run = runtime.simulate(rod, 0.1, t_eval=t)
    touching = runtime.simulate(contact, 0.1, t_eval=t)
    driven = guided()
    whole = runtime.simulate_many(rod, {"mass.rod": [3.0, 4.0]}, 0.1, t_eval=t, out=folder / "ensemble", progress=False)
    return dict(
        system=rod,
        foot=foot,
        state=rod.state,
        foot_state=foot.state,
        foot_run=runtime.simulate(foot, 0.01, t_eval=[0.0, 0.01]),
        run=run,
        contact=contact,
        touching=touching,
        driven=driven,
        motion=runtime.inverse_dynamics(driven, t),
        ensemble=whole,
        kept=runtime.simulate_many(
            rod, {"mass.rod": [3.0, 4.0]}, 0.1, t_eval=t, outputs=["max(energy)"], progress=False
        ),
        study=runtime.study(
            rod,
            {"mass.rod": (3.0, 4.0)},
            0.1,
            outputs={"e": "max(energy)"},
            t_eval=t,
            kind="sobol",
            n=4,
            progress=False,
        ),
        t=t,
        folder=folder,
        limit=rod.limit("pivot"),
        linear=runtime.linearisation(foot),
        closed=runtime.mechanics(models.four_bar.build()),
        rhs=runtime.rhs(rod),
        sensitivities=runtime.sensitivities(rod, {"mass.rod": 3.5}, 0.1, t_eval=t),
        signal=runtime.Signal.spline(np.arange(8.0), np.arange(8.0) ** 2),
        cone=models.foot.build(limits="elastic").limits[0].cone,
        builder=arm(),
        table=report.Table("a", ["b"], [[1.0]]),
        chart=plots.Chart("a", "b", {"c": (t, t)}),
    )


# A table.
def calls(world):
    """Name -> a function, and keyword arguments with which it works."""
    w = SimpleNamespace(**world)
    simulating = dict(
        system=w.system, t_end=0.05, t_eval=None, method="auto", rtol=1e-6, atol=1e-6, initial=w.state, t_start=0.0
    )
    simulating |= dict(
        alpha=5.0, beta=5.0, events=(), controllers=(), max_step=0.01, first_step=1e-3, max_steps=50, progress=False
    )
    many = {
        key: value
        for key, value in simulating.items()
        if key not in ("events", "controllers", "initial", "system", "t_eval")
    }
    many |= dict(
        t_eval=[0.0, 0.05],
        cases={"mass.rod": [3.0, 4.0]},
        system=w.system,
        assemble=True,
        chunk=2,
        workers=1,
        method="dop853",
    )
    nearby = dict(build=w.system, given={"mass.rod": 3.5}, wrt=["mass.rod"], rtol=1e-6, atol=1e-6)
    found = {
        "simulate": (runtime.simulate, simulating | dict(controllers=())),
        "rhs": (runtime.rhs, dict(system=w.system, coordinates="absolute", alpha=5.0, beta=5.0)),
        "simulate_many": (runtime.simulate_many, many | dict(out=None, engine=None, outputs=["energy"])),
        "output_names": (ensemble.output_names, dict(system=w.system)),
        "simulate_many of a function": (
            runtime.simulate_many,
            many | dict(system=models.pendulum.build, cases={"mass": [3.0, 4.0]}),
        ),
        "read_ensemble": (runtime.read_ensemble, dict(folder=w.folder / "ensemble")),
        "assemble": (runtime.assemble, dict(system=w.system, state=w.state, time=0.0, project_velocities=True)),
        "equilibrium": (runtime.equilibrium, dict(system=w.driven, state=w.driven.state, time=0.0)),
        "linearisation": (
            runtime.linearisation,
            dict(system=w.foot, state=w.foot_state, time=0.0, alpha=5.0, beta=5.0),
        ),
        "mechanics": (
            runtime.mechanics,
            dict(system=w.closed.system, independent=["A.angle"], ignore=(), floating=False),
        ),
        **of_mechanics(w.closed),
        "inverse_kinematics": (
            runtime.inverse_kinematics,
            dict(
                system=w.closed.system,
                positions={"coupler": (0.2, 0.0, 0.1)},
                orientations={"crank": (1.0, 0.0, 0.0, 0.0)},
                coordinates={"A.angle": 0.1},
                weights={"coupler": 2.0},
                frames=[],
                limits=True,
                bounds={"D.angle": (-1.0, 1.0)},
                initial=w.closed.q0,
                t=0.0,
                tolerance=1e-6,
            ),
        ),
        "kinematics": (
            runtime.kinematics,
            dict(system=w.driven, t=w.t, initial=w.driven.state, weights=None),
        ),
        "inverse_dynamics": (runtime.inverse_dynamics, dict(system=w.driven, t=w.t, initial=w.driven.state)),
        "parameters": (runtime.parameters, dict(system=w.system)),
        "with_parameters": (runtime.with_parameters, dict(system=w.system, values={"mass.rod": 3.0}, check_units=True)),
        "displaced": (
            system.displaced,
            dict(system=w.foot, angles={"ankle.theta_i": 0.1}, rates={"ankle.theta_j": 1.0}, state=w.foot_state),
        ),
        "with_parameters of a point": (runtime.with_parameters, dict(system=w.foot, values={"l.ankle": 0.04})),
        "sensitivities": (
            runtime.sensitivities,
            nearby | dict(t_end=0.05, t_eval=[0.0, 0.05], alpha=5.0, beta=5.0, check_units=True),
        ),
        "contact_sensitivities": (
            runtime.contact_sensitivities,
            dict(run=w.touching, changes={"ball": {"radius": 0.1}}),
        ),
        "fit_parameters": (
            runtime.fit_parameters,
            nearby | dict(t=w.t, data={"r.rod": w.run.r["rod"]}, sigma={"r.rod": 0.1}, bounds={"mass.rod": (1.0, 9.0)}),
        ),
        "minimise": (
            runtime.minimise,
            nearby
            | dict(
                t_end=0.05,
                objective="mass.rod",
                t_eval=[0.0, 0.05],
                bounds={"mass.rod": (1.0, 9.0)},
                max_runs=2,
                constraints={"last(energy)": (None, 100.0)},
            ),
        ),
        "at_rest": (runtime.at_rest, dict(speed=1e-3, acceleration=1e-2, terminal=True, name="rest")),
        "zero_crossing": (
            runtime.zero_crossing,
            dict(name="x", definition=np, direction=0, terminal=False, at_start=False),
        ),
        "coordinate": (
            analysis.coordinate,
            dict(
                run=w.run,
                kind="guided_angle",
                body="rod",
                other="ground",
                rate=False,
                a_i=(0, 0, 1),
                h_i=(0, 1, 0),
                b_j=(0, 0, 1),
            ),
        ),
        "hertz_stiffness": (
            system.hertz_stiffness,
            dict(radius=0.1, youngs_modulus=1e9, poissons_ratio=0.3, plane_modulus=1e9, plane_ratio=0.3),
        ),
        "in_equilibrium": (system.in_equilibrium, dict(system=w.system)),
        "restricting_moment": (system.restricting_moment, dict(limit=w.limit, directions=[[0.0, 0.1, 1.0]])),
        "write_columns": (
            results.write_columns,
            dict(file=Path("a.csv"), names=["time", "x"], values=np.ones((3, 2)), digits=17),
        ),
        "ankle_angles": (
            models.isb.ankle_angles,
            dict(run=w.foot_run, inversion_about="foot", side="left", leg="leg", foot="main_foot", neutral=np.eye(3)),
        ),
        "models.read": (
            models.read,
            dict(file=_robot(w.folder), ignore=["limits"], floating=False, muscles=False, controllers=False),
        ),
        "read_netcdf": (results.read_netcdf, dict(file=w.run.to_netcdf(w.folder / "run.nc"), system=w.run.system)),
        "write_dataset": (results.write_dataset, dict(data=w.run.to_xarray(), file=Path("a.nc"))),
        "write_storage": (
            results.write_storage,
            dict(
                file=Path("a.sto"),
                title="a",
                names=["time", "x"],
                values=np.ones((3, 2)),
                in_degrees=False,
                overwrite=True,
            ),
        ),
        "euler_angles": (
            results.euler_angles,
            dict(t=w.t, rotations=w.run.rotations("rod"), sequence="YXZ", name="a"),
        ),
        "results_folder": (results_folder, dict(out="a_folder", name="a")),
    }
    return found | of_studies(w) | values(w) | of_builder() | methods(w) | reports(w) | of_models() | of_files(w)


# A table.
def values(w):
    """Classes that users make values of."""
    signals = dict(t=np.arange(8.0), values=np.arange(8.0))
    slow = dict(t_start=0.0, t_end=1.0, step=0.1)
    return {
        "Builder": (runtime.Builder, dict(name="a", gravity=(0, 0, -9.81), axes="body")),
        "Cone": (
            runtime.Cone,
            dict(longitudes=w.cone.longitudes, latitudes=w.cone.latitudes, interpolation="elliptical"),
        ),
        "Cone.from_degrees": (
            runtime.Cone.from_degrees,
            dict(longitudes_deg=(0, 90, 180, 270, 360), latitudes_deg=[20] * 5, interpolation="spline"),
        ),
        "Event": (
            runtime.Event,
            dict(name="a", function=lambda t, s: 1.0, direction=0, terminal=False, at_start=False),
        ),
        "Controller": (
            runtime.Controller,
            dict(name="a", function=lambda t, s: 1.0, rate_hz=10.0, period=None, efforts=["a"]),
        ),
        "Stepping": (
            runtime.Stepping,
            dict(system=w.system, initial=w.state, t_start=0.0, t_end=1.0, method="auto", rtol=1e-6, atol=1e-6)
            | dict(coordinates="absolute", max_step=0.01),
        ),
        "Stepping.step": (runtime.Stepping(w.system, t_end=0.5).step, dict(dt=1e-3, until=None)),
        "State": (runtime.State, dict(names=w.state.names, y=w.state.y)),
        "Signal": (runtime.Signal, dict(knots=w.signal.knots, coefficients=w.signal.coefficients)),
        "SumOfProducts": (
            runtime.SumOfProducts,
            dict(
                coefficients=np.ones(2),
                powers=np.eye(2),
                frequencies=np.zeros((2, 2)),
                phases=np.ones((2, 2)),
                offsets=np.zeros(2),
            ),
        ),
        "Signal.constant": (runtime.Signal.constant, dict(value=1.0)),
        "Signal.spline": (runtime.Signal.spline, signals | dict(degree=3)),
        "Signal.samples": (runtime.Signal.samples, signals | dict(rates=np.ones(8), accelerations=np.zeros(8))),
        "Signal.function": (runtime.Signal.function, dict(f=np.sin) | slow),
        "Signal.joined": (runtime.Signal.joined, dict(signals=[w.signal])),
        "Run": (runtime.Run, _fields(w.run)),
        "System": (runtime.System, _fields(w.system)),
        "Body": (system.Body, _fields(w.system.bodies[0])),
        "Joint": (system.Joint, _fields(w.system.joints[0])),
        "Limit": (system.Limit, _fields(w.limit)),
        "Contact": (system.Contact, _fields(w.contact.contacts[0])),
        "Frame": (system.Frame, dict(name="a", body="rod", s=np.zeros(3), A=np.eye(3))),
        "Table": (report.Table, dict(title="a", columns=["b"], rows=[[1.0]], note="", brief=["b"])),
        "Report": (report.Report, dict(title="a", tables=[w.table], files=[], failures=[])),
        "Chart": (plots.Chart, dict(title="a", ylabel="b", series={"c": (w.t, w.t)})),
        "Drawing": (figure_files.Drawing, dict(draw=list, shows="a", source="b")),
        "FigureFiles": (figure_files.FigureFiles, dict(folder=Path("figures"), figure_format=FigureFormat())),
        "FigureFormat": (FigureFormat, dict(kinds=("png",), dpi=150)),
    }


def of_mechanics(m):
    """Methods of a model's mechanics."""
    q, u = dict(q=np.array(m.q0)), dict(u=np.array(m.u0))
    frame = dict(frame="crank", axes="frame")
    arguments = {
        "of": dict(state=m.system.state), "state": q | u, "configuration": dict(values={"A.angle": 0.1}), "assemble": q,
        "integrate": q | u | dict(dt=0.1), "difference": dict(q_0=np.array(m.q0), q_1=np.array(m.q0)), "mass_matrix": q,
        "bias": q | u, "gravity_forces": q, "inverse_dynamics": q | u | dict(a=np.zeros(1)),
        "forward_dynamics": q | u | dict(tau=np.zeros(1)), "applied_forces": q | u | dict(time=0.0),
        "pose": q | dict(frame="crank"), "velocity": q | u | frame, "acceleration": q | u | frame | dict(a=np.zeros(1)),
        "jacobian": q | frame, "bias_acceleration": q | u | frame, "centre_of_mass": q,
        "centre_of_mass_jacobian": q,
        "inverse_dynamics_derivatives": q | u | dict(a=np.zeros(1)),
        "forward_dynamics_derivatives": q | u | dict(tau=np.zeros(1)),
        "momentum": q | u | dict(about=np.zeros(3)), "kinetic_energy": q | u, "potential_energy": q,
    }  # fmt: skip
    b = arm()
    b.muscle(
        "a", "thelen_as_opensim", [("rod", (0.1, 0, 0)), ("tip", (0, 0.1, 0))], excitation=0.1, tendon="rigid", **MUSCLE
    )
    own = runtime.mechanics(b.build())
    muscle = dict(muscle="a", q=np.array(own.q0))
    found = {f"Mechanics.{name}": (getattr(own, name), muscle) for name in ("muscle_length", "moment_arms")}
    found["Mechanics.moment_arm_figure"] = (
        own.moment_arm_figure,
        dict(coordinates={"elbow.angle": (0.0, 0.1)}, muscles=["a"]),
    )
    return found | {f"Mechanics.{name}": (getattr(m, name), given) for name, given in arguments.items()}


def _fields(value):
    return {field.name: getattr(value, field.name) for field in dataclasses.fields(value) if field.init}


# A table.
def of_builder():
    """Methods of the builder, each on a new one."""
    cone = runtime.Cone.from_degrees((0, 90, 180, 270, 360), [20] * 5)
    three = (0.0, 0.0, 0.0)
    body = dict(
        name="a",
        mass=1.0,
        inertia=(1, 1, 1),
        r=three,
        p=(1, 0, 0, 0),
        v=three,
        omega=three,
        inertia_axes="body",
        free=True,
    )
    joint = dict(
        name="a",
        kind="revolute",
        body_i="rod",
        body_j="tip",
        axes="body",
        s_i=(0, 0, -0.5),
        a_i=(0, 1, 0),
        s_j=three,
        a_j=(0, 1, 0),
    )
    driver = dict(
        name="a", kind="guided_angle", body="rod", other="tip", axes="body", a_i=(0, 0, 1), h_i=(0, 1, 0), b_j=(0, 0, 1)
    )
    driver |= dict(theta_t=0.1)
    contact = dict(
        name="a",
        body="tip",
        centre=three,
        radius=0.1,
        sphere_share=0.1,
        law="kelvin_voigt",
        friction="coulomb",
        plane="ground",
        point=three,
    )
    contact |= dict(
        normal=(0, 0, 1), belt=(1, 0, 0), belt_speed=1.0, transition_velocity=1e-3, min_impact_speed=1e-2, axes="body"
    )
    contact |= dict(stiffness=1e5, exponent=1.5, damping=1.0, mu_c=0.1, mu_d=0.0)
    limit = dict(
        name="a", joint="elbow", reference="rod", xi=(1, 0, 0), eta=(0, 1, 0), cone=cone, max_moment=1.0, compliance=0.1
    )
    arguments = {
        "body": body,
        "joint": joint,
        "driver": driver,
        "motor": driver | dict(effort=1.0, stiffness=1.0, damping=1.0),
        "motor on a coordinate": dict(
            name="a", coordinate="elbow.angle", target=1.0, effort=1.0, stiffness=1.0, damping=1.0
        ),
        "load": dict(name="a", body="tip", force=three, moment=three, point=three, axes="global", attached=False),
        "limit": limit | dict(damping=0.1, direction=(0, 0, 1), law="conservative", axes="body"),
        "contact": contact,
        "force": dict(name="a", kind="spring_damper", body_i="rod", body_j="tip", body_k=None, body_l=None, axes="body")
        | dict(s_i=(0.1, 0, 0), s_j=three, free_length=0.1, stiffness=1.0, damping=0.0),
        "muscle": dict(
            name="a",
            law="thelen_as_opensim",
            path=[("rod", (0.1, 0, 0)), ("tip", (0, 0.1, 0))],
            excitation=0.1,
            tendon="rigid",
            axes="body",
            activation_0=0.1,
            **MUSCLE,
        ),
        "shape": dict(
            body="rod", kind="box", colour="red", label="a", axes="global", edges=(1, 1, 1), at=three, p=(1, 0, 0, 0)
        ),
        "shape of two points": dict(body="tip", kind="capsule", start=three, end=(1, 0, 0), radius=0.1),
        "orthosis": dict(
            name="a",
            leg="rod",
            foot="tip",
            stiffness=(9.0, 5.0, 2.0),
            damping=three,
            neutral=(0.1, 0, 0),
            mass=0.1,
            plate=three,
            cuff=three,
            length=0.2,
            hinge=None,
            straps={},
            anterior=(1, 0, 0),
            up=(0, 0, 1),
            side="left",
            axes="global",
            check_units=True,
        ),
        "orthosis with a hinge": dict(
            name="a",
            leg="rod",
            foot="tip",
            stiffness=((9.0, 5.0), 0.0, 0.0),
            mass=(0.2, 0.1),
            hinge={"point": three, "axis": (0, 1, 0)},
            straps={"cuff": {"stiffness": (900.0, 900.0, 900.0, 1.0, 1.0, 1.0)}},
        ),
        "frame": dict(name="a", body="tip", s=three, p=(1, 0, 0, 0), axes="body"),
        "add_shapes": dict(shapes=()),
        "armature": dict(coordinate="elbow.angle", inertia=0.1),
        "initial_coordinates": dict(joint="elbow", angle=0.1, rates={"angle": 1.0}),
        "build": dict(redundant="keep", project_velocities=True, time=0.0, check_units=True),
    }
    return {f"Builder.{name}": (_on_new(name.split()[0]), given) for name, given in arguments.items()}


def _on_new(name):
    def call(*given, **named):
        builder = arm()
        made = getattr(builder, name)(*given, **named)
        if name == "build":
            return made
        return runtime.simulate(builder.build(), 1e-3, max_steps=20, rtol=1e-3, atol=1e-3, progress=False)

    return call


# A table.
def methods(w):
    """Methods of values and results."""
    reaction = dict(joint="pivot", on="rod", at="joint", axes="global")
    turn = dict(body="rod", relative_to="ground", sequence="YXZ")
    return {
        "Run.euler_angles": (w.run.euler_angles, turn),
        "State.replace": (
            w.state.replace,
            dict(r={"rod": (0, 0, 0)}, omega={"rod": (0, 1, 0)}, p={"rod": (1, 0, 0, 0)}),
        ),
        "State.check": (w.state.check, dict(bodies=1)),
        "RightHandSide()": (w.rhs, dict(t=0.0, y=w.rhs.y0)),
        "RightHandSide.jacobian": (w.rhs.jacobian, dict(t=0.0, y=w.rhs.y0)),
        "RightHandSide.project": (w.rhs.project, dict(t=0.0, y=w.rhs.y0)),
        "RightHandSide.state": (w.rhs.state, dict(y=w.rhs.y0)),
        "RightHandSide.vector": (w.rhs.vector, dict(state=w.state)),
        "RightHandSide.run": (w.rhs.run, dict(t=[0.0, 0.1], y=[w.rhs.y0, w.rhs.y0])),
        "Signal()": (w.signal, dict(t=1.0, order=0)),
        "Cone.maximum_latitude": (w.cone.maximum_latitude, dict(longitude=1.0)),
        **{
            f"System.{name}": (getattr(w.contact, name), dict(name="x"))
            for name in ("body", "joint", "limit", "contact", "force")
        },
        "System.body_index": (w.system.body_index, dict(name="rod")),
        "System.row_name": (w.system.row_name, dict(joint=0, row=0)),
        "System.check_span": (w.system.check_span, dict(t_start=0.0, t_end=1.0, what="a")),
        "System.check_bodies": (w.system.check_bodies, dict(state=w.state)),
        "Run.reaction": (w.run.reaction, reaction),
        "Run.joint_load": (w.run.joint_load, reaction),
        "Run.free_body": (w.run.free_body, dict(body="rod")),
        "Run.rotations": (w.run.rotations, dict(body="rod")),
        "Run.ground_reaction": (w.touching.ground_reaction, dict(contacts=["ball"])),
        "Run.scene": (
            w.run.scene,
            dict(
                name="a",
                beside={"b": w.run},
                ghosts={},
                choice="a",
                speed=1.0,
                points={"p": {"q": w.run.r["rod"]}},
                curves={"c": {"d": w.run.t}},
            ),
        ),
        "Run.stills": (w.run.stills, dict(times=[0.0], speed=1.0, name="a")),
        "Run.animation": (w.run.animation, dict(file="a.html", speed=1.0, overwrite=True, name="a")),
        "Run.to_csv": (w.run.to_csv, dict(file="a.csv", overwrite=True)),
        "Run.to_sto": (w.run.to_sto, dict(file="a.sto", overwrite=True)),
        "Run.to_mot": (w.foot_run.to_mot, dict(file="a.mot", overwrite=True)),
        "Run.to_netcdf": (w.run.to_netcdf, dict(file="a.nc", overwrite=True)),
        "Linearisation.modes": (w.linear.modes, dict(coordinates=None)),
        "Ensemble.states": (w.ensemble.states, dict(cases=[0])),
        "Ensemble.values": (w.kept.values, dict(names=["max(energy)"], cases=[0])),
        "Ensemble.to_pandas": (w.kept.to_pandas, dict(cases=[0])),
        "Ensemble.to_netcdf": (w.kept.to_netcdf, dict(file=Path("a.nc"), overwrite=True)),
        "Ensemble.to_csv": (w.kept.to_csv, dict(file=Path("a.csv"), overwrite=True)),
        "Ensemble.to_xarray": (w.ensemble.to_xarray, dict(cases=[0])),
        **{f"Ensemble.{name}": (getattr(w.ensemble, name), dict(body="rod")) for name in ("r", "p", "v", "omega")},
        "a mapping of a run": (w.run.r.__getitem__, {"": "rod"}),
        "a mapping of a system": (w.driven.signals.__getitem__, {"": "angle.theta_t"}),
        "a mapping of an ensemble": (w.ensemble.cases.__getitem__, {"": "mass.rod"}),
        "Event.value": (runtime.Event("a", lambda t, s: 1.0).value, dict(t=0.0, state=w.state)),
    }


def _robot(folder):
    """A file with a model."""
    file = folder / "robot.urdf"
    file.write_text(model_files.urdf(""))
    return file
