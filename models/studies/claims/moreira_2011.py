"""Claims of Moreira et al. (2011): the model and its data, and the list of all its claims."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from models import foot, foot_ground, foot_sole
from models.studies.claims import moreira_2011_gait as gait
from models.studies.claims.ground_runs import (
    BALL,
    CASE,
    DAMPINGS,
    DRIFTING,
    FALLING,
    FRICTIONS,
    LOOSE,
    READINGS,
    SPEEDS,
    GroundRuns,
    longest_slip,
    turn_of_foot,
)
from models.studies.claims.verdicts import Claims, about, listed, rising
from models.walking.anthropometry import WINTER
from runtime import Run

SUBJECT = (70.0, 1.70)  # [kg], [m]
TABLE_1 = {"leg": (4.76, 8.230), "main foot": (1.33, 2.250), "toes": (0.35, 0.471)}  # [kg], [kg m^2]
LENGTHS = {
    "leg": 0.246 * SUBJECT[1],
    "main foot": 0.152 * SUBJECT[1],
    "toes": 0.152 * SUBJECT[1],
}  # [m] Winter (2009); of a whole foot
SECOND = ", with the two axes of the ankle"  # ends the statement of a second verdict
SLIDING = 10.0  # [mm] of slip that counts as excessive sliding


def checked(e: GroundRuns) -> Claims:
    """All claims on the model, the falling foot and the walking foot."""
    claims = Claims(
        "Moreira et al. (2011).  The printed data do not describe a foot (see the registry): the falling foot is that of "
        "models.foot_ground; a second verdict is on models.foot with the two axes of the modified ankle, and the paper's spring "
        "about each axis; the nine spheres are put under the foot of the synthetic walk at the height that fits best.  The "
        "unit of the stiffness is misprinted: both readings are used.",
        "Moreira 2011",
    )
    _model(claims)
    orthosis(claims, e)
    _tables(claims)
    _law(claims, e)
    friction(claims, e)
    _method(claims, e)
    gait.force(claims, e)
    gait.phases(claims, e)
    gait.shapes(claims, e)
    gait.use(claims, e)
    return claims


def _model(claims: Claims) -> None:
    system = foot_ground.build()
    claims.check(
        "Fig. 6",
        "the system has six degrees of freedom: three translations of the leg, knee, ankle and toes",
        printed="6",
        computed=f"{system.degrees_of_freedom}, in the sagittal plane of the leg",
        holds=system.degrees_of_freedom == 6,
        reason="three translations include one across the plane",
    )
    free = foot.build(ground=True, leg="free", toes="sprung").degrees_of_freedom
    claims.check(
        "Fig. 6",
        f"the system has six degrees of freedom: three translations of the leg, knee, ankle and toes{SECOND}",
        printed="6",
        computed=f"{free}: six of the leg, two of the ankle, one of the toes",
        holds=free == 6,
        reason="in space the leg turns about three axes, and the ankle about two",
    )
    rows = foot_sole.SPHERES_MM
    claims.check(
        "Table 2",
        "six spheres under the main foot and three under the toes, along the midline",
        printed="6, 3",
        computed=f"{len(rows['main_foot'])} and {len(rows['toes'])}; all with eta = 0",
        holds=[
            len(rows["main_foot"]) == 6,
            len(rows["toes"]) == 3,
            all(row[1] == 0.0 for by in rows.values() for row in by),
        ],
    )
    xi = {body: [row[0] for row in by] for body, by in rows.items()}
    one, two = rows["main_foot"][:2]
    inside = two[3] - one[3] - float(np.hypot(one[0] - two[0], one[2] - two[2]))
    claims.check(
        "Table 2",
        "the spheres are numbered from 1 to 9 starting from the left",
        computed=f"xi {listed(xi['main_foot'], '.1f')} and {listed(xi['toes'], '.1f')} mm; sphere 1 lies {inside:.1f} mm inside "
        "sphere 2",
        holds=[rising(xi["main_foot"]), rising(xi["toes"])],
        reason="spheres 1 and 2 have one place along the foot: a misprint in one of the two",
    )


def orthosis(claims: Claims, e: GroundRuns) -> None:
    """The purpose of the model, which the paper states and does not show."""
    statement = "the model is suitable for forward dynamic analysis for orthosis design"
    claims.check(
        "Abstract",
        statement,
        computed="all axes of the printed model are across the sagittal plane",
        holds=[True, False],
        reason="dorsiflexion with an orthosis is a motion of this model; inversion, which an orthosis is to restrain, is none",
    )
    free, held = e.inversions["without"], e.inversions["with"]
    claims.check(
        "Abstract",
        f"{statement}{SECOND}",
        computed=f"on an incline of {CASE.incline:g}° the foot inverts at impact by {free:.1f}° about the subtalar axis, by "
        f"{held:.1f}° with the stiffest measured orthosis",
        holds=held < free,
    )


def _tables(claims: Claims) -> None:
    mass, height = SUBJECT
    shares = TABLE_1["leg"][0] / mass, (TABLE_1["main foot"][0] + TABLE_1["toes"][0]) / mass
    source = WINTER["leg"][0], WINTER["foot"][0]
    claims.check(
        "Table 1",
        "masses are those of Winter for a man of 70 kg",
        printed="4.76, 1.33, 0.35 kg",
        computed=f"leg {100 * shares[0]:.2f} % of the body against {100 * source[0]:.2f} %, foot {100 * shares[1]:.2f} % against "
        f"{100 * source[1]:.2f} %",
        holds=[about(a, b) for a, b in zip(shares, source, strict=True)],
        reason="no body mass makes both right",
    )
    radii = {name: float(np.sqrt(inertia / m)) for name, (m, inertia) in TABLE_1.items()}
    claims.check(
        "Table 1",
        "moments of inertia of leg, main foot and toes",
        printed="8.230, 2.250, 0.471 kg m²",
        computed="radius of gyration by length of the segment: "
        + ", ".join(f"{name} {radius:.2f} by {LENGTHS[name]:.2f} m" for name, radius in radii.items()),
        holds=[radius < LENGTHS[name] for name, radius in radii.items()],
        reason="the mass of each body would lie outside of it; the powers of ten are missing",
    )


def _law(claims: Claims, e: GroundRuns) -> None:
    lost = [1.0 - r**2 for r in e.restitution.values()]
    claims.check(
        "Eq. (11)",
        "the energy dissipated increases with the damping c",
        computed=f"a ball of {BALL['mass']:g} kg at {BALL['speed']:g} m/s loses {listed([100 * x for x in lost], '.0f')} % of "
        f"its energy for c = {listed(DAMPINGS, 'g')} N s/m; with Eq. (9) as printed it would lose none (registry)",
        holds=rising(lost),
    )
    claims.check(
        "Conclusions",
        "the viscous element follows Hunt and Crossley",
        printed="300 N s/m",
        computed=f"as constant c the force jumps to {foot_ground.DAMPING * BALL['speed']:.0f} N at touch-down, restitution "
        f"{e.restitution[foot_ground.DAMPING]:.2f}; as chi of Eq. (13) restitution "
        + ", ".join(f"{r:.3f} ({name})" for name, r in e.hysteresis.items()),
        holds=[r < 0.95 for r in e.hysteresis.values()],
        reason="the printed number has the unit of a constant c, which is Kelvin and Voigt's; as chi it damps next to nothing",
    )
    claims.check(
        "Conclusions",
        "the spring follows the Hertzian theory",
        printed="40 kN/m, 1.5",
        computed="the exponent is Hertz's, the unit that of a linear spring",
        holds=[foot_sole.EXPONENT == 1.5, False],
        reason="40 kN/m^1.5 and 40 N/mm^1.5 can be meant, which differ by a factor of 32",
    )


def friction(claims: Claims, e: GroundRuns) -> None:
    """Friction of the falling foot, Fig. 7: of the sagittal model, and of the foot with two axes."""
    for falls, which in ((e.falls, ""), (e.falls_of_two_axes, SECOND)):
        _friction(claims, falls, which)


def _friction(claims: Claims, falls: Mapping[tuple[str, float, str], Run], which: str) -> None:
    first, second = FRICTIONS
    pairs = {
        (reading, speed): (falls[reading, speed, first], falls[reading, speed, second])
        for reading in READINGS
        for speed in SPEEDS
    }
    slips = {key: (longest_slip(a), longest_slip(b)) for key, (a, b) in pairs.items()}
    shown = "; ".join(
        f"{reading}: " + ", ".join(f"{slips[reading, v][0]:.3g} and {slips[reading, v][1]:.3g} mm" for v in SPEEDS)
        for reading in READINGS
    )
    speeds = f"at {listed(SPEEDS, 'g')} m/s"
    claims.check(
        "Conclusions",
        f"Coulomb friction alone, with a coefficient of 1, does not stop the foot from excessive sliding{which}",
        computed=f"longest slip of a sphere in {FALLING:g} s {speeds}, without and with the viscous part: {shown}",
        holds=[a > SLIDING for a, _ in slips.values()],
        reason=f"depends on the speed at release, which is not printed: at {listed(SPEEDS[:-1], 'g')} m/s the foot stops within "
        f"millimetres, at {SPEEDS[-1]:g} m/s it tumbles over its toes",
    )
    claims.check(
        "Fig. 7",
        f"the viscous part prevents the foot from sliding{which}",
        computed=f"{speeds}, without and with it: {shown}",
        holds=[a > SLIDING >= b for a, b in slips.values()],
        reason="3 N s/m are newtons at 1 m/s, against a normal force of tens to hundreds of newtons: a foot that slides without "
        "this part slides with it",
    )
    turns = {key: (turn_of_foot(a), turn_of_foot(b)) for key, (a, b) in pairs.items()}
    claims.check(
        "Fig. 7c, f",
        "without the viscous part the foot rotates with a higher amplitude, beyond the vertical; with it, it stops before"
        f"{which}",
        computed=f"largest rotation of the main foot {speeds}: "
        + "; ".join(
            f"{reading}: " + ", ".join(f"{turns[reading, v][0]:.1f} and {turns[reading, v][1]:.1f}°" for v in SPEEDS)
            for reading in READINGS
        ),
        holds=[a > 90.0 > b for a, b in turns.values()],
        reason="the friction that is added is too small to change the rotation",
    )


def _method(claims: Claims, e: GroundRuns) -> None:
    drifts = [float(np.abs(run.violation).max()) for run in e.drifts.values()]
    claims.check(
        "Eq. (22)",
        "the Baumgarte technique avoids the violation of the constraints",
        computed=f"largest |Phi| in {DRIFTING:g} s at tolerance {LOOSE:g}: "
        + ", ".join(f"{name} it {drift:.1e}" for name, drift in zip(e.drifts, drifts, strict=True)),
        holds=rising(drifts),
    )
    counts = {key: run.stats.evaluations for key, run in e.falls.items()}
    claims.leave(
        "Introduction",
        "the model is computationally efficient",
        computed=f"a fall of {FALLING:g} s takes {min(counts.values())} to {max(counts.values())} evaluations",
        reason="the paper gives neither a cost nor a model to compare with",
    )
