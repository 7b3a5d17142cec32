"""Views of runs: pages in the browser or a notebook, and files of animations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from numpy.typing import ArrayLike

from runtime.results.recorded import RecordedRun
from runtime.support.arguments import checked_class
from runtime.support.arrays import Floats
from runtime.support.checks import finite, numbers_of_shape, positive
from runtime.support.errors import ModelError, shown
from runtime.support.files import free_file
from runtime.support.html import html_table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from runtime.results.drawn_motion import DrawnMotion
    from runtime.view.scene import Scene

MOST_STILLS = 12
Arrays = Mapping[str, Mapping[str, Floats]]


@checked_class
class Seen:
    """A motion that can be shown in three dimensions."""

    def drawn_motion(self) -> DrawnMotion:
        """The arrays that are drawn."""
        raise NotImplementedError

    def scene(
        self,
        *,
        name: str = "",
        beside: Mapping[str, Any] | None = None,
        ghosts: Mapping[str, Any] | None = None,
        choice: str = "ghost",
        speed: float = 1.0,
        points: Mapping[str, Mapping[str, ArrayLike]] | None = None,
        curves: Mapping[str, Mapping[str, ArrayLike]] | None = None,
    ) -> Scene:
        """The scene: bodies, massless links, axes of joints, joint limits, contacts, forces, gravity, and charts.

        Shown are the outputs of the run, at most 50 per second of playing: ask ``simulate`` for enough of them (``t_eval``).

        Parameters
        ----------
        name : str
            Of this run, for the legend; default: the name of its system.
        beside : mapping of names to runs, optional
            Drawn side by side with this one.
        ghosts : mapping of names to runs, optional
            Drawn in its place and transparent, one at a time, by a slider.
        choice : str
            What the slider chooses, such as "length of the link".
        speed : float
            Of playing; 0.25 for a fourth of the real speed.
        points : mapping of labels to mappings of names to (n, 3) [m], optional
            Points beside this motion at its times, such as {"markers, measured": {"heel": ...}}: small spheres in a colour of the
            label's own.
        curves : mapping of titles to mappings of labels to (n,), optional
            Charts of this motion beside the scene, such as {"angles [deg]": {"ankle": ...}}, in place of that of the energies.

        Raises
        ------
        ModelError
        """
        from runtime.results.run_scene import scene_of  # here because most runs are not looked at

        of_this = self.drawn_motion()
        n, own = len(of_this.t), name or of_this.outline.name
        positive(speed, "scene: speed")
        runs, more = {own: self, **(beside or {})}, dict(ghosts or {})
        if len(runs) != 1 + len(beside or {}) or set(runs) & set(more):
            raise ModelError(f"scene: two runs have the name '{own}'; give each another name, this run by name=")
        motions = {label: of_this if run is self else _motion_of(label, run) for label, run in (runs | more).items()}
        for label, motion in motions.items():
            if not len(motion.t):
                raise ModelError(f"scene: run '{label}' has no output; ask simulate for times (t_eval) that it reaches")
        return scene_of(
            {label: motions[label] for label in runs},
            ghosts={label: motions[label] for label in more},
            title=own if len(runs) == 1 else " and ".join(runs),
            choice=choice,
            speed=speed,
            points=_arrays("points", points or {}, (n, 3)),
            curves=_arrays("curves", curves or {}, (n,)),
        )

    def animation(self, file: str | Path, *, speed: float = 1.0, overwrite: bool = False, **more: Any) -> Path:
        """Write the motion as a page that needs no other file (.html), a film (.gif, .mp4) or stills (.png); returns the file.

        Parameters
        ----------
        file : path
            An existing file is refused unless ``overwrite``.
        speed, more
            As for ``scene``.

        Raises
        ------
        ModelError
        """
        from runtime.view.output import write

        path = free_file(Path(file), overwrite)
        return write(self.scene(speed=speed, **more), path, speed=speed)

    def stills(self, times: Sequence[float] | None = None, *, speed: float = 1.0, **more: Any) -> Figure:
        """The motion at some times in a row, as a figure of matplotlib; ``savefig`` writes it.

        Parameters
        ----------
        times : sequence of float [s], optional
            The output before each is drawn.  Default: the start, the middle and the end.
        speed, more
            As for ``scene``.

        Raises
        ------
        ModelError
        """
        from runtime.view.movie import stills

        if times is not None and not 1 <= len(times) <= MOST_STILLS:
            raise ModelError(
                f"stills: {len(times)} times, limit 1 to {MOST_STILLS}; give others, or write a film by animation"
            )
        t = None if times is None else finite(times, (len(times),), "stills: times").tolist()
        return stills(self.scene(speed=speed, **more), t)

    def view(self, *, speed: float = 1.0, **more: Any) -> Any:
        """Show the motion in the browser; in a notebook, in its output.

        Parameters
        ----------
        speed, more
            As for ``scene``.

        Raises
        ------
        ModelError
        """
        from runtime.view.output import show

        return show(self.scene(speed=speed, **more), speed=speed)


def _motion_of(label: str, run: Any) -> DrawnMotion:
    if not isinstance(run, Seen):
        raise ModelError(f"scene: '{label}' is {shown(run)}; give what runtime.simulate returned")
    return run.drawn_motion()


def _arrays(what: str, groups: Mapping[str, Mapping[str, ArrayLike]], shape: tuple[int, ...]) -> Arrays:
    """Arrays of groups by name, of this shape each; NaN where nothing is drawn."""
    return {
        label: {
            name: numbers_of_shape(array, shape, f"scene: {what} '{label}', '{name}'") for name, array in each.items()
        }
        for label, each in groups.items()
    }


@checked_class
class SeenRun(Seen, RecordedRun):
    """The part of a run that shows its motion in three dimensions, and how it went."""

    def drawn_motion(self) -> DrawnMotion:
        """The arrays that are drawn."""
        from runtime.results.drawn_motion import drawn_motion

        return drawn_motion(self)

    def plot(self, *names: str) -> Figure:
        """Draw quantities over time, a panel each, in a figure of matplotlib; ``savefig`` writes it.

        Parameters
        ----------
        names : str
            Joints, bodies, limits, contacts, forces, motors or frames, each of which stands for its main quantities, such as the
            coordinates of a joint and its reaction on its second body; coordinates, such as "ankle.theta_i"; or outputs, such as
            "r.toes" and "norm(v.toes)".  Default: coordinates of joints and sizes of reactions, the six of each that change
            most, and energies.

        Raises
        ------
        ModelError
            For an unknown name, and for a run with less than two output times.
        """
        from runtime.results.run_plot import plot_run

        return plot_run(self, names)

    def _repr_html_(self) -> str:
        """How the run went, for notebooks."""
        s = self.stats
        facts = (
            ("system", self.system.name),
            ("result", f"{self.status.name}: {self.message}"),
            ("output", f"{len(self.t)} times" + (f", {self.t[0]:g} to {self.t[-1]:g} s" if len(self.t) else "")),
            ("method", f"{s.method}: {s.evaluations} evaluations, {s.steps} steps"),
            ("tolerances", f"rtol = {s.rtol:g}, atol = {s.atol:g}"),
        )
        return html_table(type(self).__name__, (), facts)
