"""The captured detail back on top of an edited animation."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, TypeAlias, get_args

import numpy as np

from keypose.arrays import Floats, Ints, give_away
from keypose.errors import OptionError
from keypose.model import KeyedMotion, Motion, Residual, Skeleton
from keypose.model.motion import WHOLE_RATIO_TOLERANCE
from keypose.options import number, one_of
from keypose.rotations import rotate
from keypose.verbs.rest_poses import change_of_rest

Timing: TypeAlias = Literal["auto", "keys", "frames"]
TIMINGS: tuple[Timing, ...] = get_args(Timing)

NAMES_SHOWN = 6


def rebake(
    edited: KeyedMotion | Motion, original_keyed: KeyedMotion, residual: float = 0.7, *, timing: Timing = "auto"
) -> Motion:
    """``edited`` with a share ``residual`` of the detail that ``original_keyed`` has kept: 0 none, 1 all of it.

    The detail turns and shifts each joint in its own frame, so it follows the edit. Joints are matched by name. The
    figure may have other units, another way up and joints with other axes, as programs make them: the detail is scaled
    and turned. One with other bones, or whose file shows it in another rest pose, is refused.

    ``timing`` says which detail belongs to which frame: by ``"keys"`` the n-th key of the edit is the n-th of the
    original, wherever it was moved; by ``"frames"`` time is the same in both. ``"auto"`` takes the timing of the
    residual that the edit itself carries, if any, else goes by keys if both have as many, else by frames.
    """
    if not isinstance(edited, KeyedMotion | Motion):
        raise OptionError(f"{type(edited).__name__}, expected the edited KeyedMotion or Motion")
    if not isinstance(original_keyed, KeyedMotion):
        raise OptionError(f"{type(original_keyed).__name__}, expected the KeyedMotion that was edited")
    kept = original_keyed.residual
    if kept is None:
        raise OptionError(f"{original_keyed.name}: no residual was kept, so there is nothing to put back: use what "
                          "kp.unbake gave, or a file that holds the residual")  # fmt: skip
    share = number("residual", residual)
    one_of("timing", timing, TIMINGS)
    motion = edited.sample() if isinstance(edited, KeyedMotion) else edited
    partners = _partners(motion.skeleton, original_keyed.skeleton)
    change = change_of_rest(motion, original_keyed, partners.ours, partners.theirs)
    sources, held = _sources(edited, original_keyed, kept, timing)
    theirs = partners.theirs
    detail = Residual(
        turns=give_away(rotate(change.turns, kept.turns[:, theirs])),
        shifts=give_away(change.scale * rotate(change.turns, kept.shifts[:, theirs])),
    )
    translations, rotations = motion.translations.copy(), motion.rotations.copy()
    if share:  # without any the edit stays bit by bit
        translations[:, partners.ours], rotations[:, partners.ours] = detail.onto(
            translations[:, partners.ours], rotations[:, partners.ours], sources, share
        )
    return replace(
        motion,
        translations=give_away(translations),
        rotations=give_away(rotations),
        notes=(*motion.notes, *partners.notes(motion.skeleton, original_keyed.skeleton), *held),
    )


# Which joint is which


@dataclass(frozen=True)
class _Partners:
    """The joints of the edit that take detail, and whose."""

    ours: Ints  # (P,) joints of the edit
    theirs: Ints  # (P,) joints of the original

    def notes(self, edited: Skeleton, original: Skeleton) -> tuple[str, ...]:
        """What the two figures do not share."""
        alone = [name for name in edited.names if name not in original.names]
        lost = [name for name in original.names if name not in edited.names]
        said = []
        if alone:
            said.append(f"rebake: no detail for {_listed(alone)}: not in the original")
        if lost:
            said.append(f"rebake: detail of {_listed(lost)} left out: not in the edit")
        return tuple(said)


def _listed(names: list[str]) -> str:
    more = f" and {len(names) - NAMES_SHOWN} more" if len(names) > NAMES_SHOWN else ""
    return ", ".join(names[:NAMES_SHOWN]) + more


def _partners(edited: Skeleton, original: Skeleton) -> _Partners:
    place = {name: j for j, name in enumerate(original.names)}
    pairs = [(j, place[name]) for j, name in enumerate(edited.names) if name in place]
    if not pairs:
        raise OptionError(f"no joint of the edit ({_listed(list(edited.names))}) has the name of one of the original "
                          f"({_listed(list(original.names))})")  # fmt: skip
    ours, theirs = np.array(pairs, np.int32).T
    return _Partners(ours, theirs)


# When


def _sources(
    edited: KeyedMotion | Motion, original: KeyedMotion, detail: Residual, timing: Timing
) -> tuple[Floats, tuple[str, ...]]:
    """Which frame of the detail each frame of the edit takes, and a note where it runs out."""
    frames = np.arange(edited.n_frames, dtype=np.float64)
    own = edited.residual if isinstance(edited, KeyedMotion) else None
    if timing == "auto" and own is not None and len(own) == len(detail):
        return own.source_of(frames), ()
    rate = original.fps / edited.fps
    if abs(rate - 1) <= WHOLE_RATIO_TOLERANCE:
        rate = 1.0
    if timing == "keys" or (timing == "auto" and isinstance(edited, KeyedMotion) and edited.n_keys == original.n_keys):
        if not isinstance(edited, KeyedMotion):
            raise OptionError("timing='keys' needs a KeyedMotion, as kp.load_keyed gives; a Motion goes by frames")
        if edited.n_keys != original.n_keys:
            raise OptionError(f"timing='keys' needs as many keys in the edit ({edited.n_keys}) as in the original "
                              f"({original.n_keys}); use timing='frames'")  # fmt: skip
        at = np.interp(frames, edited.keys, original.keys)
        # beyond the keys time goes on
        at += rate * (np.minimum(0, frames - edited.keys[0]) + np.maximum(0, frames - edited.keys[-1]))
    else:
        at = rate * frames
    late = int((at > original.n_frames - 1 + 1e-6).sum())
    held = (f"rebake: the last {late} frames lie beyond the original's end and hold its last detail",) if late else ()
    return detail.source_of(at), held
