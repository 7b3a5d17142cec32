"""Both axes of the ankle with credible intervals: markers of any movement, a population prior and a model of the skin.

The mean and the standard deviation of a population, and what the markers of a trial say, are weighed against each other by
Bayes' rule, after Haddou, Rivest and Pierrynowski, A nonlinear mixed effects directional model for the estimation of the rotation
axes of the human ankle, Ann Appl Stat 4, 2010, 1892-1912, doi 10.1214/10-AOAS342, who fit a population at once.

Prior of the angles: Isman and Inman, Anthropometric studies of the human foot and ankle, Bull Prosthet Res 10-11, 1969, 97-129:
means and ranges of 46 feet.  A standard deviation is the range over the expected range of 46 normal numbers, as those of the
paper were not at hand, nor were correlations.  Height of the talus: Siegler et al., by Rodrigues da Silva et al. (2024a): 41.7
+/- 5.7 mm, 26 adults, in proportion to the length of the foot.  Places: no source at hand states their spread.  The centre of
functional axes lies 7 % of the length of the foot in front of the middle of the malleoli (Salami et al., Estimation of ankle
joint parameters in typically developed adults using functional calibration methods, Gait Posture 77, 2020, 95-99; abstract; 23
adults).  Half of this is the standard deviation in every direction: a choice.

Skin: up to 4.3 mm at heel, navicular and medial malleolus and up to 1.8 mm at the metatarsals between 20 degrees of dorsiflexion
and 30 of plantarflexion, six adults by X-rays (Tranberg and Karlsson, The relative skin movement of the foot: a 2-D roentgen
photogrammetry study, Clin Biomech 13, 1998, 71-76; abstract), and below 9.36 mm at leg and foot, five adults walking, by dual
fluoroscopy (The modified Shriners Hospitals for Children Greenville multi-segment foot model provides clinically acceptable
measurements of ankle and midfoot angles: a dual fluoroscopy study, 2021, PMC8085108; abstract).  Taken: 2.5 mm, the standard
deviation in each direction, which the markers of the trial correct; in proportion to the turn of the foot 4.3 mm at 50 degrees.
How displacements are alike in frames, poses and neighbours is a choice: nothing at hand states it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.linalg import block_diag, solve_triangular
from scipy.optimize import minimize
from scipy.stats import norm

from models.foot import LINK_LENGTH
from models.foot_anatomy import FOOT_LENGTH, SUBTALAR_DEVIATION_DEG, SUBTALAR_INCLINATION_DEG
from models.walking.axes_density import AxesDensity, likeness, repeated
from models.walking.capture import Capture
from models.walking.subject import Frozen, LegFoot
from models.walking.two_hinges import SHARED, UNKNOWNS, HingedMotion, foot_motion, with_axes
from runtime.support import checked, checked_class
from runtime.support.arrays import Floats

EXPECTED_RANGE = 4.433  # of 46 normal numbers, in standard deviations
PLACE_SD = 0.035  # of the length of the foot
TALUS_SD = 0.0057  # [m] of the height of the talus in a foot of the published length

# [m] Expected standard deviations in each direction: of the noise, and of the three parts of the skin that are not in proportion
# to the turn of the foot, 2.5 mm together; and the factors by which a standard deviation of their priors multiplies these, and
# the skin of the leg over that of the foot.
NOISE, SKIN = 0.5e-3, 1.44e-3
OF_NOISE, OF_SKIN, OF_LEG = 3.0, 2.0, 1.5
BY_TURN = 4.3e-3 / np.radians(50.0)  # [m/rad] of the skin in proportion to the turn: Tranberg and Karlsson (1998)
NEIGHBOURS = 0.15  # [m] within which markers of a segment move alike; no source states it

FRAMES = 40  # of each trial
FLOOR = 0.1e-3  # [m] least noise
DRAWS = 400
MAX_SHIFT, MAX_RATIO = 0.25, 1.25  # of means, in standard deviations, and of these, between both ways
MIN_EFFECTIVE = 50.0
MAX_AWAY = 2.5  # of a mean from that of the prior, in standard deviations of the prior
TAILS = (2.5, 97.5)  # [%] ends of the interval
POSTERIOR = "posterior of the axes"  # as the source of axes


@checked_class
@dataclass(frozen=True, eq=False)
class AxesPrior(Frozen):
    """Knowledge of both axes before a movement is seen: a normal distribution of the unknowns of ``UNKNOWNS``.

    Attributes
    ----------
    mean, sd : (8,) [rad], [m]
    correlation : (8, 8)
    """

    mean: Floats
    sd: Floats
    correlation: Floats

    @property
    def covariance(self) -> Floats:
        """(8, 8)."""
        return self.correlation * np.outer(self.sd, self.sd)


@checked_class
@dataclass(frozen=True, eq=False)
class AxesPosterior(Frozen):
    """Both axes of a foot after a movement was seen, in the order of ``UNKNOWNS``.

    Angles are those of ``Anatomy``.  Places are those of the talocrural axis from its rule, of the talocalcaneal axis medial of
    the middle of the talocrural one, and below it (``link_length``), in axes of the standing foot.

    Attributes
    ----------
    prior : AxesPrior
    mean, sd : (8,) [rad], [m]
    interval : (8, 2) [rad], [m]
        Between its ends lies the value with a probability of 95 %.
    correlation : (8, 8)
    draws : (400, 8) [rad], [m]
        Of the posterior, for what follows from the axes.
    sampled : bool
        Whether mean, deviation and interval are those of the draws, as Laplace's approximation does not agree with them.
    effective : float
        Effective number of the draws.
    noise : float [m]
        Standard deviation of the markers from frame to frame, in each direction.
    skin : mapping of "leg" and "foot" to float [m]
        Standard deviation of the displacements of their markers, in each direction.
    residual : float [m]
        Root mean square distance of the markers of the foot from the fit.
    frames : int
    notes : tuple of str
    """

    prior: AxesPrior
    mean: Floats
    sd: Floats
    interval: Floats
    correlation: Floats
    draws: Floats
    sampled: bool
    effective: float
    noise: float
    skin: Mapping[str, float]
    residual: float
    frames: int
    notes: tuple[str, ...] = ()

    @property
    def ratio(self) -> Floats:
        """Standard deviations (8,) over those of the prior."""
        return np.asarray(self.sd / self.prior.sd)

    @property
    def conflicts(self) -> tuple[str, ...]:
        """Unknowns whose mean lies further from that of the prior than people differ: the model does not fit this movement."""
        away = np.abs(self.mean - self.prior.mean) / self.prior.sd
        return tuple(name for name, one in zip(UNKNOWNS, away, strict=True) if one > MAX_AWAY)

    @property
    def bits(self) -> float:
        """Information from the movement: the volume of the distribution of the axes is halved once for each bit."""
        volumes = [np.linalg.slogdet(one.correlation)[1] / 2.0 + np.log(one.sd).sum() for one in (self.prior, self)]
        return float((volumes[0] - volumes[1]) / np.log(2.0))

    def subject(self, subject: LegFoot, draw: int | None = None) -> LegFoot:
        """The subject with the mean axes and places, or those of a draw."""
        return with_axes(subject, self.mean if draw is None else self.draws[draw], POSTERIOR)

    def sentences(self) -> list[str]:
        """A sentence for each axis, and one of what the movement added."""
        said = []
        for name in ("talocrural", "talocalcaneal"):
            words = []
            for what in ("inclination", "deviation"):
                k = UNKNOWNS.index(f"{name}_{what}")
                value, (low, high) = np.degrees(self.mean[k]), np.degrees(self.interval[k])
                words.append(f"{what} {value:.1f} deg (95 % interval {low:.1f} to {high:.1f} deg)")
            said.append(f"{name} axis with its prior: {', '.join(words)}")
        said.append(f"the movement adds {self.bits:.1f} bits to the prior of the axes")
        if self.conflicts:
            names = ", ".join(name.replace("_", " ") for name in self.conflicts)
            said.append(
                f"{names}: more than {MAX_AWAY:g} standard deviations of the prior away from its mean, as in hardly any foot: "
                "the foot of the markers bends, or skin moves otherwise than assumed; the axes by rule remain"
            )
        return [*said, *self.notes]


@checked
def population_prior(subject: LegFoot) -> AxesPrior:
    """The prior of published samples for the size of a subject's foot."""
    long = subject.foot_length
    ranges = (20.0, 30.0, 48.0, 43.0)  # [deg] 68 to 88, 69 to 99, 20.5 to 68.5 and 4 to 47: Isman and Inman (1969)
    i_1, d_1, i_2, d_2 = np.radians(ranges) / EXPECTED_RANGE
    place, size = PLACE_SD * long, long / FOOT_LENGTH
    angles = np.radians([10.0, 6.0, SUBTALAR_INCLINATION_DEG, SUBTALAR_DEVIATION_DEG])
    return AxesPrior(
        mean=np.array([*angles[:2], 0.0, 0.0, *angles[2:], 0.0, LINK_LENGTH * size]),
        sd=np.array([i_1, d_1, place, place, i_2, d_2, place, TALUS_SD * size]),
        correlation=np.eye(SHARED),
    )


@checked
def axes_posterior(subject: LegFoot, trials: Sequence[Capture], prior: AxesPrior | None = None) -> AxesPosterior:
    """Find both axes with credible intervals from the markers of the leg and the foot in any movement.

    Every marker is displaced in its segment by noise and by skin, all normal.  Skin has four parts: in proportion to the turn of
    the foot as published, a constant of the trial, a function of the pose of the foot, and one of time; neighbours move alike.
    How large the last three are follows from the deformation of the clusters of markers, with weak priors.  Displacements and
    angles are integrated out, see ``axes_density``.

    Laplace's approximation at the optimum is checked by importance sampling from a t distribution.  Where both differ by more
    than a quarter of a standard deviation, or their deviations by more than a quarter, the sample counts, and a note says so.

    Parameters
    ----------
    subject : LegFoot
        By ``scale_to_subject``.  Its rules state where the talocrural axis is expected; the directions of its axes do not count.
    trials : sequence of Capture
        One or more, of any movement, with three markers or more on leg and main foot, the same in all.  Those of a left foot are
        mirrored, as the static trial was.
    prior : AxesPrior, optional
        Default: of published samples, see the source of this module.

    Returns
    -------
    AxesPosterior

    Raises
    ------
    ModelError
        Where there are too few markers or frames.
    """
    prior = prior or population_prior(subject)
    motion = foot_motion(subject, *trials, frames=FRAMES)
    skin = SkinParts.of(motion)
    density = AxesDensity.of(motion, skin.covariance(motion), prior.mean, prior.covariance)
    best = density.best()
    found, effective = density.sample(best, DRAWS)
    draws, shared, laplace = found[:, :SHARED], best.x[:SHARED], best.covariance[:SHARED, :SHARED]
    notes = [] if best.converged else ["the search for the axes did not converge"]
    sd, mean_of, sd_of = np.sqrt(np.diag(laplace)), draws.mean(axis=0), draws.std(axis=0)
    trusted = effective >= MIN_EFFECTIVE
    shift, ratio = np.abs(mean_of - shared) / sd, np.maximum(sd_of / sd, sd / sd_of)
    sampled = trusted and (not best.converged or bool((shift > MAX_SHIFT).any() or (ratio > MAX_RATIO).any()))
    if not trusted:
        notes.append(
            f"Laplace's approximation is not checked: the sample counts as {effective:.0f} draws, limit {MIN_EFFECTIVE:g}"
        )
    elif sampled:
        worst = int(np.maximum(shift / MAX_SHIFT, ratio / MAX_RATIO).argmax())
        notes.append(
            f"Laplace's approximation differs from the sample, which counts: {UNKNOWNS[worst].replace('_', ' ')} by "
            f"{shift[worst]:.2f} standard deviations, these by a factor {ratio[worst]:.2f}"
        )
    spread = norm.ppf(np.array(TAILS) / 100.0)
    correlation: Floats = np.asarray(np.corrcoef(draws.T) if sampled else laplace / np.outer(sd, sd), float)
    off = motion.markers(shared, best.angles) - motion.places
    return AxesPosterior(
        prior=prior, mean=mean_of if sampled else shared, sd=sd_of if sampled else sd,
        interval=np.percentile(draws, TAILS, axis=0).T if sampled else shared[:, None] + sd[:, None] * spread,
        correlation=correlation, draws=draws, sampled=sampled, effective=effective,
        noise=float(np.sqrt((skin.noise**2).mean())),
        skin=skin.amplitudes, residual=float(np.sqrt((off**2).sum(axis=2).mean())), frames=len(motion.t),
        notes=tuple(notes),
    )  # fmt: skip


@dataclass(frozen=True, eq=False)
class SkinParts:
    """Noise and skin of a motion: standard deviations [m] in each direction, most probable by the deformation of the clusters.

    ``by_turn`` (n, n) [m^2]: covariance of the displacements of a marker in proportion to the turn of the foot, as published; the
    deformation of the clusters does not count here, as skin as large as a broadening forefoot would hold the whole movement.
    ``parts`` (3, n, n): ``likeness`` of other displacements between frames; ``of_parts`` (3, n): their standard deviations at the
    foot; ``leg`` (n,): those of the leg over those of the foot; ``noise`` (n,).  They are those of the trial of each frame.
    """

    by_turn: Floats
    parts: Floats
    noise: Floats
    leg: Floats
    of_parts: Floats

    @classmethod
    def of(cls, motion: HingedMotion) -> SkinParts:
        """The most probable amplitudes of each trial by itself: another trial leaves the model of the first as it is."""
        trials = [motion.part(np.flatnonzero(motion.trial == one)) for one in np.unique(motion.trial)]
        noise, leg, *of_parts = np.array([_amplitudes(one) for one in trials])[motion.trial].T
        return cls(_by_turn(motion), likeness(motion), np.hypot(noise, FLOOR), leg, np.array(of_parts))

    @property
    def of_foot(self) -> Floats:
        """Covariance (n, n) [m^2] of the displacements of a marker of the foot between frames."""
        return np.asarray(self.by_turn + np.einsum("kn,km,knm->nm", self.of_parts, self.of_parts, self.parts))

    @property
    def amplitudes(self) -> dict[str, float]:
        """Standard deviations [m] of leg and foot over the frames."""
        of_foot = np.diag(self.of_foot)
        return {"leg": float(np.sqrt((self.leg**2 * of_foot).mean())), "foot": float(np.sqrt(of_foot.mean()))}

    def covariance(self, motion: HingedMotion) -> Floats:
        """Covariance (6 n, 6 n) [m^2] of the residuals: by markers of the foot, and by those of the leg, which move the leg."""
        n, foot = len(motion.t), self.of_foot
        # How the foot seems to move as the markers of the leg do, both as rigid bodies.
        small = np.linalg.inv(motion.leg.moves[1])
        seems = motion.weights @ motion.foot.rigid(motion.places).reshape(n, -1, 6) @ small
        by_leg = (seems @ np.linalg.cholesky(motion.leg.alike(NEIGHBOURS)[:6, :6])).reshape(6 * n, 6)
        of_leg = np.kron(np.outer(self.leg, self.leg) * foot, np.ones((6, 6))) * (by_leg @ by_leg.T)
        of_noise = block_diag(*(self.noise[:, None, None] ** 2 * (np.eye(6) + seems @ np.swapaxes(seems, 1, 2))))
        return np.asarray(np.kron(foot, motion.foot.alike(NEIGHBOURS)[:6, :6]) + of_leg + of_noise)


def _by_turn(motion: HingedMotion) -> Floats:
    """Covariance (n, n) [m^2] of displacements in proportion to the turn of the foot."""
    return np.asarray(BY_TURN**2 * repeated(motion) * (motion.turned @ motion.turned.T))


def _amplitudes(motion: HingedMotion) -> Floats:
    """Most probable noise [m], skin of the leg over that of the foot, and three parts of this [m], of one trial (5,)."""
    by_turn, parts = _by_turn(motion), likeness(motion)
    clusters = [(one.deformation, np.diag(one.alike(NEIGHBOURS))[6:].mean()) for one in (motion.leg, motion.foot)]
    expected = np.log([NOISE, 1.0, *[SKIN] * len(parts)])
    factors = np.log([OF_NOISE, OF_LEG, *[OF_SKIN] * len(parts)])

    def cost(logs: Floats) -> float:
        noise, leg, *skin = np.exp(2.0 * logs)
        total = (((logs - expected) / factors) ** 2).sum()
        of_foot = by_turn + np.tensordot(skin, parts, 1)
        for (seen, share), ratio in zip(clusters, (leg, 1.0), strict=True):
            L = np.linalg.cholesky(share * ratio * of_foot + (noise + FLOOR**2) * np.eye(len(seen)))
            total += 2.0 * seen.shape[1] * np.log(np.diag(L)).sum() + (solve_triangular(L, seen, lower=True) ** 2).sum()
        return float(total)

    corners = expected + np.vstack([np.zeros(len(factors)), np.diag(factors)])
    options = {"initial_simplex": corners, "xatol": 0.02, "fatol": 0.02, "maxfev": 2000}
    return np.exp(minimize(cost, expected, method="Nelder-Mead", options=options).x)
