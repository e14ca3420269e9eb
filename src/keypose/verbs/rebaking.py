"""The captured detail back on top of an edited animation."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from keypose.arrays import Ints, give_away
from keypose.errors import OptionError
from keypose.model import KeyedMotion, Motion, Residual, Skeleton
from keypose.options import number, one_of
from keypose.rotations import rotate
from keypose.verbs.rest_poses import change_of_rest
from keypose.verbs.retiming import TIMINGS, Timing, clock_of

NAMES_SHOWN = 6


def rebake(
    edited: KeyedMotion | Motion, original_keyed: KeyedMotion, residual: float = 0.7, *, timing: Timing = "auto"
) -> Motion:
    """``edited`` with a share ``residual`` of the detail that ``original_keyed`` has kept: 0 none, 1 all of it.

    The detail turns and shifts each joint in its own frame, so it follows the edit. Joints are matched by name. The
    figure may have other units, another way up and joints with other axes, as programs make them: the detail is scaled
    and turned. One with other bones, or whose file shows it in another rest pose, is refused.

    ``timing`` says which detail belongs to which frame: by ``"keys"`` the n-th key of the edit is the n-th of the
    original, wherever it was moved; by ``"frames"`` time is the same in both. ``"auto"`` takes the detail that the edit
    itself carries, if it does (what ``kp.edit`` and ``.blend`` files give); else detail goes along with keys that were
    moved, as far as it can be told which these are, and stays at its frames elsewhere. Notes say which.
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
    if timing == "auto" and isinstance(edited, KeyedMotion) and edited.residual is not None:
        carried = edited.sample(share)
        return replace(carried, notes=(*carried.notes, "rebake: the edit brings its own detail, which was put back"))
    change = change_of_rest(motion, original_keyed, partners.ours, partners.theirs)
    clock = clock_of(edited, original_keyed, kept, timing)
    theirs = partners.theirs
    detail = Residual(
        turns=give_away(rotate(change.turns, kept.turns[:, theirs])),
        shifts=give_away(change.scale * rotate(change.turns, kept.shifts[:, theirs])),
    )
    translations, rotations = motion.translations.copy(), motion.rotations.copy()
    if share:  # without any the edit stays bit by bit
        translations[:, partners.ours], rotations[:, partners.ours] = detail.onto(
            translations[:, partners.ours], rotations[:, partners.ours], clock.sources, share
        )
    return replace(
        motion,
        translations=give_away(translations),
        rotations=give_away(rotations),
        notes=(*motion.notes, *clock.notes, *partners.notes(motion.skeleton, original_keyed.skeleton)),
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
