"""Curves through keys, and how far they stray: at once while one browses, polished when one stops."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from keypose.errors import OptionError
from keypose.inbetween.keyed import INTERPOLATIONS, Interpolation, with_residual
from keypose.methods.salient import available_cores
from keypose.model import KeyedMotion, Motion
from keypose.options import flag, number, one_of
from keypose.swings import Swings, swings
from keypose.swings.settings import Settings
from keypose.verbs.drawing import Drawing, style_of
from keypose.verbs.unbaking import frames_of, unbake
from keypose.workbench.face import Face, face_of
from keypose.workbench.lately import Lately
from keypose.workbench.recipe import Recipe, tolerant
from keypose.workbench.rungs import Rungs, ladder_of
from keypose.workbench.space import PageSpace, page_space
from keypose.workbench.straying import Straying, straying
from keypose.workbench.told import whole_numbers

MOST_RESIDUAL = 2.0
REMEMBERED = 24  # ladders, curves and edits of one clip,
POSES = 20_000_000  # joints x frames of all of these together


@dataclass(frozen=True, eq=False)
class Unbaked:
    """Curves through keys, the motion that they make with a share of the detail, and how far that is off."""

    keyed: KeyedMotion
    motion: Motion
    straying: Straying | None


class Bench:
    """One clip on the bench, and what was made of it lately, so that one step more costs one step."""

    def __init__(self, motion: Motion) -> None:
        self.motion = motion
        self.lately = Lately(max(2, min(REMEMBERED, POSES // (motion.n_frames * motion.n_joints))))
        self._drawings: dict[tuple[str, bool], Drawing] = {}

    @cached_property
    def space(self) -> PageSpace:
        """The space in which the clip and all that is made of it is shown."""
        return page_space(self.motion)

    @cached_property
    def face(self) -> Face | None:
        """Where the figure's head looks, in the clip and all that is made of it."""
        return face_of(self.motion)

    def rungs(self, recipe: Recipe) -> Rungs:
        """The ladder of a recipe, remembered."""
        return self.lately.of(("ladder", recipe.key()), lambda: ladder_of(self.motion, recipe))

    def swings(self, threshold: float = Settings.threshold) -> Swings:
        """The swings of the clip, remembered."""
        return self.lately.of(("swings", threshold), lambda: swings(self.motion, threshold))

    def keyed(self, frames: Sequence[int], interpolation: Interpolation, *, polish: bool) -> KeyedMotion:
        """``kp.unbake(motion, frames, interpolation=..., polish=..., residual=False)``; only Bezier has a polish."""
        keys = frames_of(whole_numbers("frames", frames, least=0), self.motion, "frames")
        one_of("interpolation", interpolation, INTERPOLATIONS)
        polished = flag("polish", polish) and interpolation == "bezier"
        key = ("keyed", tuple(keys.tolist()), interpolation, polished)
        return self.lately.of(key, lambda: self._drawing(interpolation, polished).through(keys))

    def with_detail(self, frames: Sequence[int], interpolation: Interpolation) -> KeyedMotion:
        """``kp.unbake(motion, frames, interpolation=...)``: polished, with what the curves leave out."""
        keyed = self.keyed(frames, interpolation, polish=True)
        key = ("detail", tuple(keyed.keys.tolist()), interpolation)
        return self.lately.of(key, lambda: with_residual(keyed, self.motion))

    def unbaked(
        self,
        frames: Sequence[int],
        interpolation: Interpolation = "bezier",
        *,
        polish: bool = True,
        residual: float = 0.0,
    ) -> Unbaked:
        """Curves through ``frames`` with a share of the detail; without ``polish`` at once and measured in part."""
        share = number("residual", residual, least=0.0, most=MOST_RESIDUAL)
        keyed = self.keyed(frames, interpolation, polish=polish)
        if share:
            keyed = with_residual(keyed, self.motion)
        motion = keyed.sample(share)
        return Unbaked(keyed, motion, straying(self.motion, motion, None if share else keyed, quick=not polish))

    def within(self, recipe: Recipe, tolerance_mm: float, interpolation: Interpolation = "bezier") -> tuple[int, ...]:
        """Fewest keys of a recipe whose curves, as ``kp.unbake(motion, frames)`` makes them, stray no farther.

        A recipe that leaves its options open gives the keys of ``kp.unbake(motion, tolerance_mm=...)``; one with a
        range those of that part by itself. Where the ladder that one browses has none, one of many more keys is tried.
        """
        first, last = recipe.range_in(self.motion)
        if last - first + 1 < self.motion.n_frames:
            part = Bench(self.motion[first : last + 1])
            return tuple(first + key for key in part.within(recipe.of_part(first, last), tolerance_mm, interpolation))
        tolerance = number("tolerance_mm", tolerance_mm, above=0.0)
        one_of("interpolation", interpolation, INTERPOLATIONS)
        if self.motion.height <= 0:
            raise OptionError(f"{self.motion.name}: the figure has no height, so nothing can be stated in mm")
        drawing = self._drawing(interpolation, polish=interpolation == "bezier")
        above = 0
        if recipe.is_left_open:
            told = {**recipe.verb_options(self.motion, {}), "max_keys": recipe.max_keys}
            keys = unbake(self.motion, tolerance_mm=tolerance, interpolation=interpolation, residual=False, **told).keys
            if drawing.greatest_mm(drawing.through(keys)) <= tolerance:
                return tuple(keys.tolist())
            above = len(keys)  # they hold only with curves that know of the tolerance
        return self._first_within(drawing, tolerant(recipe, self.motion, tolerance, interpolation), tolerance, above)

    def _first_within(self, drawing: Drawing, tries: Sequence[Recipe], tolerance: float, above: int) -> tuple[int, ...]:
        """The first selection of some recipes, one after another, with more than ``above`` keys that is good enough."""
        found = None
        for asked in tries:
            try:
                found = self.rungs(asked).ladder
            except OptionError:  # so few keys cannot be within the tolerance
                if asked is tries[-1]:
                    raise
                continue
            for count in found.counts[found.counts > above].tolist():
                keys = found.at(count).frames
                if drawing.within(keys, tolerance) and drawing.greatest_mm(drawing.through(keys)) <= tolerance:
                    return tuple(keys.tolist())
            above = max(above, int(found.counts[-1]))
        assert found is not None
        most = int(found.counts[-1])
        left = drawing.greatest_mm(drawing.through(found.at(most).frames))
        raise OptionError(f"no selection of up to {most} keys stays within {tolerance:g} mm; with {most} keys the "
                          f"largest error is {left:.4g} mm")  # fmt: skip

    def _drawing(self, interpolation: Interpolation, polish: bool) -> Drawing:
        if (interpolation, polish) not in self._drawings:
            style = style_of(interpolation, "quaternion", False, 0.0, polish, None, available_cores())
            self._drawings[interpolation, polish] = Drawing(self.motion, style)
        return self._drawings[interpolation, polish]
