"""Selections, curves and scores of one clip, cached: quick curves while a slider moves, polished ones when it rests."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from keypose.api.curve_fitter import CurveFitter, build_curve_options
from keypose.api.unbake import parse_frames, unbake
from keypose.clip_edit.cache import LruCache
from keypose.clip_edit.display_space import DisplaySpace, compute_display_space
from keypose.clip_edit.face import Face, find_face
from keypose.clip_edit.ladder_view import LadderView, compute_ladder_view
from keypose.clip_edit.partial_score import PartialScore, compute_score
from keypose.clip_edit.selection_spec import SelectionSpec, tolerance_specs
from keypose.clip_edit.validators import check_frames
from keypose.curves.keyed_motion import INTERPOLATIONS, Interpolation, add_residual
from keypose.errors import OptionError
from keypose.methods.salient import available_cores
from keypose.model import KeyedMotion, Motion
from keypose.swings import Swings, swings
from keypose.swings.settings import Settings
from keypose.validation import check_bool, check_choice, check_number

MAX_RESIDUAL = 2.0
CACHE_SIZE = 24  # max ladders, curves and edits of one clip
CACHE_POSES = 20_000_000  # max joints x frames of all of these together


@dataclass(frozen=True, eq=False)
class FittedCurves:
    """Curves through keys, the motion sampled from them with a share of the residual, and its score."""

    keyed: KeyedMotion
    motion: Motion
    score: PartialScore | None


class ClipEditor:
    """One clip with a cache of its results, so that one more step costs only that step."""

    def __init__(self, motion: Motion) -> None:
        self.motion = motion
        self.cache = LruCache(max(2, min(CACHE_SIZE, CACHE_POSES // (motion.n_frames * motion.n_joints))))
        self._fitters: dict[tuple[str, bool], CurveFitter] = {}

    @cached_property
    def display_space(self) -> DisplaySpace:
        """Coordinate system in which the clip and everything derived from it is shown."""
        return compute_display_space(self.motion)

    @cached_property
    def face(self) -> Face | None:
        """Direction in which the head looks, in the clip and everything derived from it; None: no head recognised."""
        return find_face(self.motion)

    def ladder_view(self, spec: SelectionSpec) -> LadderView:
        """Return the ladder of a spec, cached."""
        return self.cache.get_or_make(("ladder", spec.cache_key()), lambda: compute_ladder_view(self.motion, spec))

    def swings(self, threshold: float = Settings.threshold) -> Swings:
        """Return the swings of the clip, cached."""
        return self.cache.get_or_make(("swings", threshold), lambda: swings(self.motion, threshold))

    def fit_keys(self, frames: Sequence[int], interpolation: Interpolation, *, polish: bool) -> KeyedMotion:
        """Return ``kp.unbake(motion, frames, interpolation=..., polish=..., residual=False)``, cached.

        ``polish`` applies to Bezier curves only.
        """
        keys = parse_frames(check_frames("frames", frames, min_value=0), self.motion, "frames")
        check_choice("interpolation", interpolation, INTERPOLATIONS)
        polished = check_bool("polish", polish) and interpolation == "bezier"
        key = ("keyed", tuple(keys.tolist()), interpolation, polished)
        return self.cache.get_or_make(key, lambda: self._fitter(interpolation, polished).fit(keys))

    def fit_keys_with_residual(self, frames: Sequence[int], interpolation: Interpolation) -> KeyedMotion:
        """Return ``kp.unbake(motion, frames, interpolation=...)``, cached: polished, with the residual."""
        keyed = self.fit_keys(frames, interpolation, polish=True)
        key = ("residual", tuple(keyed.keys.tolist()), interpolation)
        return self.cache.get_or_make(key, lambda: add_residual(keyed, self.motion))

    def fit_curves(
        self,
        frames: Sequence[int],
        interpolation: Interpolation = "bezier",
        *,
        polish: bool = True,
        residual: float = 0.0,
    ) -> FittedCurves:
        """Fit curves through ``frames`` and add a share of the residual; without ``polish`` quickly, scored in part."""
        share = check_number("residual", residual, min_value=0.0, max_value=MAX_RESIDUAL)
        keyed = self.fit_keys(frames, interpolation, polish=polish)
        if share:
            keyed = add_residual(keyed, self.motion)
        motion = keyed.sample(share)
        return FittedCurves(
            keyed, motion, compute_score(self.motion, motion, None if share else keyed, positions_only=not polish)
        )

    def select_within(
        self, spec: SelectionSpec, tolerance_mm: float, interpolation: Interpolation = "bezier"
    ) -> tuple[int, ...]:
        """Return the fewest keys whose curves, as ``kp.unbake(motion, frames)`` fits them, stay within the tolerance.

        A spec with default options gives the keys of ``kp.unbake(motion, tolerance_mm=...)``; one with a frame range
        those of that section by itself. If the default ladder has no such selection, one with many more keys is tried.
        """
        first, last = spec.frame_range(self.motion)
        if last - first + 1 < self.motion.n_frames:
            section = ClipEditor(self.motion[first : last + 1])
            return tuple(
                first + key for key in section.select_within(spec.for_section(first, last), tolerance_mm, interpolation)
            )
        tolerance = check_number("tolerance_mm", tolerance_mm, above=0.0)
        check_choice("interpolation", interpolation, INTERPOLATIONS)
        if self.motion.height <= 0:
            raise OptionError(f"{self.motion.name}: the figure has no height, so nothing can be stated in mm")
        fitter = self._fitter(interpolation, polish=interpolation == "bezier")
        above_count = 0
        if spec.uses_defaults:
            options = {**spec.ladder_options(self.motion, {}), "max_keys": spec.max_keys}
            keys = unbake(
                self.motion, tolerance_mm=tolerance, interpolation=interpolation, residual=False, **options
            ).keys
            if fitter.max_error_mm(fitter.fit(keys)) <= tolerance:
                return tuple(keys.tolist())
            above_count = len(keys)  # they hold only with curves that were fitted to the tolerance
        return self._select_first_within(
            fitter, tolerance_specs(spec, self.motion, tolerance, interpolation), tolerance, above_count
        )

    def _select_first_within(
        self, fitter: CurveFitter, specs: Sequence[SelectionSpec], tolerance: float, above_count: int
    ) -> tuple[int, ...]:
        """Return the first selection within tolerance with more than ``above_count`` keys, trying specs in order."""
        ladder = None
        for spec in specs:
            try:
                ladder = self.ladder_view(spec).ladder
            except OptionError:  # no selection with so few keys can be within the tolerance
                if spec is specs[-1]:
                    raise
                continue
            for count in ladder.counts[ladder.counts > above_count].tolist():
                keys = ladder.at(count).frames
                if fitter.fit_within(keys, tolerance) and fitter.max_error_mm(fitter.fit(keys)) <= tolerance:
                    return tuple(keys.tolist())
            above_count = max(above_count, int(ladder.counts[-1]))
        assert ladder is not None
        max_keys = int(ladder.counts[-1])
        max_error_mm = fitter.max_error_mm(fitter.fit(ladder.at(max_keys).frames))
        raise OptionError(
            f"no selection of up to {max_keys} keys stays within {tolerance:g} mm; with {max_keys} keys the "
            f"largest error is {max_error_mm:.4g} mm"
        )

    def _fitter(self, interpolation: Interpolation, polish: bool) -> CurveFitter:
        if (interpolation, polish) not in self._fitters:
            options = build_curve_options(interpolation, "quaternion", False, 0.0, polish, None, available_cores())
            self._fitters[interpolation, polish] = CurveFitter(self.motion, options)
        return self._fitters[interpolation, polish]
