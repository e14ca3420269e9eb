"""Selections, curves and scores of one clip, cached: quick curves while a slider moves, polished ones when it rests."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Annotated, Any

import numpy as np

from keypose.api.key_count import auto_tolerance, select_automatically
from keypose.api.method_input import build_curve_options, measures_inbetweens, put_keys_at_holds
from keypose.api.select import (
    ExtremesPreference,
    build_auto_measure,
    check_extremes_first,
    ladder,
    put_extremes_first,
    refine_table,
    selection_with_keys,
)
from keypose.api.unbake import unbake
from keypose.arrays import Ints, runs
from keypose.cache import LruCache
from keypose.clip_edit.display_data import DisplaySpace, Face, compute_display_space, find_face
from keypose.clip_edit.field_checks import check_frames
from keypose.clip_edit.selection_spec import CurveSpec, KeyedSpec, MethodSpec, SelectionSpec, tolerance_specs
from keypose.curves.capture_faults import describe_faults, find_spikes, remove_flips, without_spike_warnings
from keypose.curves.keyed_motion import CurveFitter, add_residual
from keypose.errors import OptionError, format_count
from keypose.extremes import Extreme, find_extremes, find_holds
from keypose.library.canonical import canonical_body
from keypose.methods.refine import RefineRow
from keypose.methods.salient import available_cores
from keypose.metrics import Score, score, score_positions
from keypose.model import FootContacts, KeyedMotion, Ladder, Motion, Selection, list_notes, parse_frames
from keypose.options import DEFAULT_METHOD, CurveOptions, Option, check_option_int, check_option_number
from keypose.options.clip_edit import ClipKeyOptions, DetailOptions
from keypose.swings import Actions, Swings, swings
from keypose.swings.error import segmentation_error
from keypose.swings.segment import change_threshold
from keypose.swings.settings import Settings
from keypose.validation import check_bool

CACHE_SIZE = 24  # max ladders, curves and edits of one clip
MAX_FITTERS = 6  # of curves with different options
CACHE_POSES = 20_000_000  # max joints x frames of all of these together
MAX_THRESHOLDS = 4  # of cached swings: dragging a threshold must not evict everything else

MM = "mm"
UNITS = {"integrated": "squared units of the features, summed up"}  # by cost; FEATURE_UNITS otherwise
FEATURE_UNITS = "units of the features"
FILE_UNITS = "units of the file"  # of errors of a figure without height
COMMON_OPTIONS = (
    "joints",
    "weights",
    "features",
    "smoothing_s",
    "frames",
    "pins",
    "excluded",
)  # keywords of every method, not options of one

REPAIR_HINT = "keypose unbake --repair and kp.repair_capture bridge such frames"
MAX_SWING_CELLS = 1 << 22  # joints x frames beyond which no swings are computed


@dataclass(frozen=True, eq=False)
class FittedCurves:
    """Curves through keys, the motion sampled from them with a share of the residual, and its score."""

    keyed: KeyedMotion
    motion: Motion
    score: Score | None


class ClipEditor:
    """One clip with a cache of its results, so that one more step costs only that step."""

    def __init__(self, motion: Motion) -> None:
        self.motion = motion
        self.cache = LruCache(max(2, min(CACHE_SIZE, CACHE_POSES // (motion.n_frames * motion.n_joints))))
        self._fitters = LruCache(MAX_FITTERS)
        self._swings = LruCache(MAX_THRESHOLDS)

    @cached_property
    def motion_without_flips(self) -> Motion:
        """The clip without the flips of the capture, which curves omit."""
        return remove_flips(self.motion)

    @cached_property
    def extremes(self) -> tuple[Extreme, ...]:
        """The extremes of the clip without its flips."""
        return find_extremes(self.motion_without_flips)

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
        key = ("ladder", spec.for_ladder().cache_key())
        return self.cache.get_or_make(key, lambda: compute_ladder_view(self.motion, spec))

    def swings(self, threshold: float = Settings.threshold) -> Swings:
        """Return ``kp.swings(motion, threshold)``, cached."""
        if threshold == Settings.threshold:
            return self._default_swings
        return self._swings.get_or_make(
            threshold, lambda: change_threshold(self.motion, self._default_swings, threshold)
        )

    @cached_property
    def _default_swings(self) -> Swings:
        return swings(self.motion)

    @cached_property
    def actions(self) -> Actions:
        """The actions of the clip, those of its default swings."""
        return self._default_swings.actions(self.motion)

    def fit_keys(self, spec: KeyedSpec, *, polish: bool = True) -> KeyedMotion:
        """Return ``kp.unbake(motion, frames, ..., residual=False)`` with the keys and curves of ``spec``, cached.

        Without ``polish`` keys that all joints share get quick curves, which are not smooth, unless the spec sets it.
        """
        key = ("keyed", spec.keyed_key(), check_bool("polish", polish))
        if spec.joint_keys is not None:
            options = {**spec.joint_keys.unbake_options(), **spec.curve_options()}
            return self.cache.get_or_make(key[:2], lambda: unbake(self.motion, residual=False, **options))
        keys = parse_frames(check_frames("frames", spec.frames), self.motion.n_frames, "frames")

        def fit() -> KeyedMotion:
            fitter = self._fitter(spec, polish=polish)
            return fitter.smooth(fitter.fit(keys))

        return self.cache.get_or_make(key, fit)

    def fit_keys_with_residual(self, spec: KeyedSpec) -> KeyedMotion:
        """Return ``kp.unbake(motion, frames, ...)``, cached: polished, with the residual."""
        keyed = self.fit_keys(spec)
        return self.cache.get_or_make(("residual", spec.keyed_key()), lambda: add_residual(keyed, self.motion))

    def fit_curves(self, spec: KeyedSpec, *, polish: bool = True, residual: float = 0.0) -> FittedCurves:
        """Fit curves through keys and add a share of the residual; without ``polish`` quickly, scored in part."""
        share = check_option_number(DetailOptions, "residual", residual)
        keyed = self.fit_keys(spec, polish=polish)
        if share:
            keyed = add_residual(keyed, self.motion)
        motion = keyed.sample(share)
        return FittedCurves(
            keyed, motion, compute_score(self.motion, motion, None if share else keyed, positions_only=not polish)
        )

    def refine_rows(self, spec: MethodSpec) -> tuple[RefineRow, ...]:
        """Return the rows of ``kp.refine_table`` with the options of the method, cached."""
        return self.cache.get_or_make(
            ("refine table", spec.cache_key()),
            lambda: refine_table(self.motion_without_flips, **(spec.options or {})).rows,
        )

    def select_within(
        self, spec: SelectionSpec, tolerance_mm: float | None = None, curves: CurveSpec | None = None
    ) -> tuple[int, ...]:
        """Return the fewest keys whose curves, as ``kp.unbake(motion, frames)`` fits them, stay within the tolerance.

        None is that of ``auto``, 1 % of the height. Flips of the capture do not count. Without them, a spec with
        default options gives the keys of ``kp.unbake(motion, tolerance_mm=...)`` or ``auto=True``; one with a frame
        range those of that section by itself. If the default ladder has no such selection, one with many more keys is
        tried.
        """
        first, last = spec.frame_range(self.motion)
        if last - first + 1 < self.motion.n_frames:
            section = ClipEditor(self.motion[first : last + 1])
            return tuple(
                first + key for key in section.select_within(spec.for_section(first, last), tolerance_mm, curves)
            )
        curves = curves or CurveSpec()
        self._check_extremes(spec)
        if tolerance_mm is None:
            key = ("automatic", spec.cache_key(), curves.curve_key())
            return self.cache.get_or_make(key, lambda: self._select_automatically(spec, curves))
        tolerance = check_option_number(ClipKeyOptions, "tolerance_mm", tolerance_mm)
        if self.motion.height <= 0:
            raise OptionError(
                "the figure has no height, so nothing can be stated in mm", code="no_height", subject=self.motion.name
            )
        keys = self._unbake_keys(spec, curves, tolerance_mm=tolerance)
        # keys that do not hold here hold with curves that are fitted to the tolerance
        return self._keys_within(keys, tolerance, curves) or self._select_first_within(
            tolerance_specs(spec, self.motion, tolerance, curves), tolerance, curves, len(keys)
        )

    def select_count(self, spec: SelectionSpec, keys: int) -> tuple[int, ...]:
        """Return the keys of the ladder with this number of keys, moved to extremes if the spec says so."""
        self._check_extremes(spec)
        ladder = self.ladder_view(spec).ladder
        count = selection_with_keys(ladder, check_option_int(ClipKeyOptions, "keys", keys))
        return tuple(self._put_extremes_first(count, spec).tolist())

    def _check_extremes(self, spec: SelectionSpec) -> ExtremesPreference | None:
        """Return how keys are to be moved to extremes; OptionError if that is impossible, None for the default."""
        if not spec.prefers_extremes:
            return None
        first, leading = spec.extremes_first, spec.leading
        return check_extremes_first(first, leading, self.motion, spec.method, spec.options or {}, auto=False)

    def _put_extremes_first(self, selection: Selection, spec: SelectionSpec) -> Ints:
        """Return the keys of a selection of the ladder of ``spec``, moved to extremes if the spec says so."""
        preference = self._check_extremes(spec)
        if preference is None:
            return selection.frames
        motion, options = self.motion_without_flips, spec.ladder_options(self.motion)
        if measures_inbetweens(options):  # keys at holds stay there, as in ``kp.unbake``
            first, last = spec.frame_range(motion)
            ends = first + np.ravel(find_holds(motion[first : last + 1])).astype(np.int32)
            options["pins"] = (*options.get("pins", ()), *np.intersect1d(selection.frames, ends).tolist())
        return put_extremes_first(motion, selection, options, preference).frames

    def _select_automatically(self, spec: SelectionSpec, curves: CurveSpec) -> tuple[int, ...]:
        tolerance = auto_tolerance(self.motion)
        keys = self._unbake_keys(spec, curves, auto=True)
        # with as many keys as those, which may have been moved to extremes, others may hold
        return self._keys_within(keys, tolerance, curves) or self._select_first_within(
            tolerance_specs(spec, self.motion, tolerance, curves), tolerance, curves, len(keys) - 1
        )

    def _unbake_keys(self, spec: SelectionSpec, curves: CurveSpec, **count: Any) -> Ints:
        """Return the keys of ``kp.unbake``; none for a spec with other than default options."""
        if not spec.uses_defaults:
            return np.array([], np.int32)
        options = {**spec.ladder_options(self.motion, {}), "max_keys": spec.max_keys, **curves.curve_options()}
        options |= spec.extremes_options()
        with without_spike_warnings():  # the details of the clip name all spikes
            return unbake(self.motion_without_flips, residual=False, **count, **options).keys

    def _keys_within(self, keys: Ints, tolerance: float, curves: CurveSpec) -> tuple[int, ...]:
        """Return the keys if there are any and their curves are within the tolerance; else none."""
        if not len(keys):
            return ()
        fitter = self._fitter(curves)
        keyed = fitter.fit(keys)
        if curves.smooth:  # by default, smooth curves have no larger error
            keyed = fitter.smooth(keyed)
        return tuple(keys.tolist()) if fitter.max_error_mm(keyed) <= tolerance else ()

    def _select_first_within(
        self, specs: Sequence[SelectionSpec], tolerance: float, curves: CurveSpec, above_count: int
    ) -> tuple[int, ...]:
        """Return the first selection within tolerance with more than ``above_count`` keys, trying specs in order."""
        fitter = self._fitter(curves)
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
                if fitter.fit_within(keys, tolerance) and (within := self._keys_within(keys, tolerance, curves)):
                    moved = self._put_extremes_first(ladder.at(count), spec)
                    return self._keys_within(moved, tolerance, curves) or within
            above_count = max(above_count, int(ladder.counts[-1]))
        assert ladder is not None
        max_keys = int(ladder.counts[-1])
        max_error_mm = fitter.max_error_mm(fitter.fit(ladder.at(max_keys).frames))
        raise OptionError(
            f"cannot be reached with up to {max_keys} keys",
            option="tolerance_mm",
            value=tolerance,
            hint=f"with {format_count(max_keys, 'key')} the largest error is {max_error_mm:.4g} mm",
        )

    def _fitter(self, curves: CurveSpec, *, polish: bool = True) -> CurveFitter:
        """Return the fitter of these curves, cached; without ``polish`` of quick ones, unless they set it."""
        motion, options = self.motion_without_flips, curves.curve_options()
        options["interpolation"] = options["interpolation"] or CurveOptions.interpolation
        options["rotation"] = options["rotation"] or CurveOptions.rotation
        if not polish and options["polish"] is None and options["polish_weights"] is None:
            options["polish"] = options["smooth"] = False
        return self._fitters.get_or_make(
            (curves.curve_key(), options["polish"]),
            lambda: CurveFitter(motion, build_curve_options(motion.skeleton, **options, threads=available_cores())),
        )


@dataclass(frozen=True, eq=False)
class LadderView:
    """A ladder, its automatic number of keys, and the options it was computed with."""

    ladder: Ladder
    auto: int | None  # automatic number of keys; None: no selection of the ladder is within 1 % of the height
    unit: str  # of the costs
    options: Mapping[str, Any]  # of the method, defaults included


def compute_ladder_view(motion: Motion, spec: SelectionSpec) -> LadderView:
    """Return all selections of a spec: ``kp.ladder``, and the number of keys of ``kp.select(auto=True)``.

    Keys that are selected by the error of curves are at holds, as in ``kp.unbake(keys=...)``. All are those of the
    motion without flips, which the curves through them omit.
    """
    source, options = remove_flips(motion), spec.ladder_options(motion)
    max_keys = spec.ladder_max_keys(motion)

    def search(search_options: Mapping[str, Any]) -> Ladder:
        return ladder(source, spec.method, max_keys=max_keys, **search_options)

    result = search(options)
    if measures_inbetweens(options) and not options.get("loop"):
        result = put_keys_at_holds(source, result, options, search)
    errors, tolerance = build_auto_measure(source, result, options)
    auto_selection = select_automatically(result, errors, tolerance)
    auto = len(auto_selection) if errors.max_error(auto_selection) <= tolerance else None
    method_options = {name: value for name, value in options.items() if name not in COMMON_OPTIONS}
    return LadderView(result, auto, _unit(options, motion), method_options)


def select_keys(motion: Motion, spec: SelectionSpec, keys: int) -> Selection:
    """Return the selection of a spec with ``keys`` keys, or the largest one below that."""
    view = compute_ladder_view(motion, replace(spec, max_keys=max(2, keys)))
    counts = [count for count in view.ladder.counts.tolist() if count <= keys]
    if not counts:
        raise OptionError(option="keys", value=keys, expected=f"at least {view.ladder.counts[0]} here")
    return view.ladder.at(counts[-1])


def _unit(options: Mapping[str, Any], motion: Motion) -> str:
    cost = options.get("cost", "chord")
    if cost == "inbetween":
        return MM if motion.height > 0 else FILE_UNITS
    return UNITS.get(cost, FEATURE_UNITS)


@dataclass(frozen=True, eq=False)
class MethodResult:
    """Keys of one method and curves through them."""

    method: str
    frames: tuple[int, ...]
    curves: FittedCurves


def compare_methods(editor: ClipEditor, methods: Iterable[str], keys: int | None = None) -> tuple[MethodResult, ...]:
    """Return for each method its largest selection of up to ``keys`` keys, or else its smallest, with curves.

    ``keys=None``: as many as the automatic ones, which are those of the default method.
    """
    automatic_frames = editor.select_within(SelectionSpec()) if keys is None else ()
    max_keys = len(automatic_frames) if keys is None else check_option_int(ClipKeyOptions, "keys", keys)
    results = []
    for method in methods:
        frames = automatic_frames if method == DEFAULT_METHOD else ()
        if not frames:
            ladder = editor.ladder_view(SelectionSpec(method=method)).ladder
            counts = [count for count in ladder.counts.tolist() if count <= max_keys] or ladder.counts.tolist()[:1]
            frames = tuple(ladder.at(counts[-1]).frames.tolist())
        results.append(MethodResult(method, frames, editor.fit_curves(KeyedSpec(frames=frames))))
    return tuple(results)


def compute_score(
    capture: Motion, dense: Motion, keyed: KeyedMotion | None, *, positions_only: bool = False
) -> Score | None:
    """Return the error of ``dense`` against ``capture``; ``keyed`` are the curves it was sampled from, if unchanged.

    None if it is not defined: the number of frames differs, or the figure has no height. ``positions_only`` leaves out
    rotations, feet and keys.
    """
    if dense.n_frames != capture.n_frames or capture.height <= 0:
        return None
    if positions_only:
        return score_positions(capture, dense)
    return score(capture, dense if keyed is None else keyed)


# The API takes the next three classes as they are.


@dataclass(frozen=True)
class SwingFigures:
    """How accurately swings play the capture, and their packed size."""

    n_swings: int
    error_deg: Annotated[float, Option("Length of the difference of all Euler angles, mean of all frames.")]
    stored_bytes: int
    left_out_bytes: Annotated[int, Option("Those of joints that are stored frame by frame: fingers, toes.")]
    raw_bytes: Annotated[int, Option("4 for each channel in each frame.")]


@dataclass(frozen=True)
class SwingBar:
    """A swing of a joint."""

    joint: str
    index: Annotated[int, Option("Among the swings of the joint.")]
    start: int
    end: int
    angle_deg: float


@dataclass(frozen=True)
class JointDetails:
    """A joint of a skeleton."""

    name: str
    parent: Annotated[int, Option("-1: a root.")]
    body_part: Annotated[str | None, Option("None: not recognised.")]
    is_auxiliary: Annotated[bool, Option("No limb leads to it: it twists or controls others.")]


@dataclass(frozen=True)
class MotionDetails:
    """Joints, joint groups, contacts and swings of a motion."""

    has_body: bool
    joints: tuple[JointDetails, ...]
    joint_groups: Mapping[str, tuple[int, ...]]
    contacts: Mapping[str, tuple[tuple[int, int], ...]]  # first and last frame of each contact, by foot
    swings: tuple[SwingBar, ...]
    notes: tuple[str, ...]  # of the file, and the spikes of the capture


def describe_motion(editor: ClipEditor) -> MotionDetails:
    """Return the details of the clip of ``editor``; a figure without height has neither contacts nor swings."""
    motion, skeleton = editor.motion, editor.motion.skeleton
    anatomy = skeleton.anatomy
    are_auxiliary = [joint in anatomy.auxiliary_joints for joint in range(skeleton.n_joints)]
    joints = zip(skeleton.names, skeleton.parents.tolist(), anatomy.body_parts, are_auxiliary, strict=True)
    has_height = motion.height > 0
    is_small = motion.n_frames * motion.n_joints <= MAX_SWING_CELLS
    spikes = find_spikes(motion) if is_small else ()
    return MotionDetails(
        has_body=canonical_body(motion[:1]) is not None,
        joints=tuple(JointDetails(*each) for each in joints),
        joint_groups=dict(anatomy.groups),
        contacts=contact_ranges(motion.foot_contacts()) if has_height else {},
        swings=swing_bars(editor.swings()) if has_height and is_small else (),
        notes=(*list_notes(motion), *([f"{describe_faults(spikes)} ({REPAIR_HINT})"] if spikes else [])),
    )


def measure_swings(capture: Motion, found: Swings, played: Motion) -> SwingFigures:
    """Return the error of ``played``, the motion of the swings ``found`` in ``capture``, and their size."""
    size = found.size()
    error_deg = segmentation_error(capture, found, played=played)
    return SwingFigures(found.n_swings, error_deg, size.total, size.left_out, size.raw_bytes)


def swing_bars(swings: Swings) -> tuple[SwingBar, ...]:
    """Return the swings of all joints, by joint and by time."""
    return tuple(
        SwingBar(track.joint, index, start, end, round(float(np.rad2deg(angle)), 3))
        for track in swings.tracks
        for index, (start, end, angle) in enumerate(
            zip(track.starts.tolist(), track.ends.tolist(), track.angles.tolist(), strict=True)
        )
    )


def contact_ranges(contacts: FootContacts) -> dict[str, tuple[tuple[int, int], ...]]:
    """Return the first and the last frame of each contact, by foot."""
    return {
        foot: tuple((start, stop - 1) for start, stop in runs(contacts.in_contact[:, column]))
        for column, foot in enumerate(contacts.feet)
    }
