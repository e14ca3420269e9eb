"""One edit of key poses or of keys, as data; places and ways are metres on the page, turns in the world the page's."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, fields
from typing import Any, ClassVar

import numpy as np

from keypose.errors import OptionError
from keypose.inbetween.editing import Change, Edit
from keypose.inbetween.editing.rotate import SPACES
from keypose.options import flag, number, one_of, shown, text, whole
from keypose.rotations import from_euler
from keypose.workbench.space import PageSpace
from keypose.workbench.told import exactly, numbers

LONGEST_SPREAD_S = 10.0


@dataclass(frozen=True, kw_only=True)
class KeyStep(ABC):
    """What all have in common: the frame of a key."""

    op: ClassVar[str]
    frame: int

    def __post_init__(self) -> None:
        self._check("frame", whole("frame", self.frame, least=0))

    def _check(self, name: str, value: object) -> None:
        object.__setattr__(self, name, value)

    @abstractmethod
    def do(self, edit: Edit, space: PageSpace) -> Change:
        """Does it."""


@dataclass(frozen=True, kw_only=True)
class PoseStep(KeyStep):
    """An edit of a pose may be spread over the keys around it, and may put feet back that stood."""

    spread_s: float = 0.0
    keep_feet: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check("spread_s", number("spread_s", self.spread_s, least=0.0, most=LONGEST_SPREAD_S))
        self._check("keep_feet", flag("keep_feet", self.keep_feet))

    def _how(self) -> dict[str, Any]:
        return {"spread_s": self.spread_s, "keep_feet": self.keep_feet}

    def _way(self, name: str, count: int = 3) -> None:
        if getattr(self, name) is not None:
            self._check(name, numbers(name, getattr(self, name), count))


@dataclass(frozen=True, kw_only=True)
class Rotate(PoseStep):
    """Turn a joint about its own axes, its parent's or the world's."""

    op = "rotate"
    joint: str
    quaternion: tuple[float, ...] | None = None  # wxyz
    euler_degrees: tuple[float, ...] | None = None  # about X, then Y, then Z
    space: str = "local"

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check("joint", text("joint", self.joint))
        self._way("quaternion", 4)
        self._way("euler_degrees")
        self._check("space", one_of("space", self.space, SPACES))
        if (self.quaternion is None) == (self.euler_degrees is None):
            raise OptionError("rotate: say the turn in one way, quaternion or euler_degrees")

    def do(self, edit: Edit, space: PageSpace) -> Change:
        """Does it."""
        turn: Any = self.quaternion
        if self.euler_degrees is not None:
            if self.space != "world":
                told: dict[str, Any] = {"euler_degrees": self.euler_degrees}
                return edit.rotate(self.frame, self.joint, **told, space=self.space, **self._how())  # type: ignore[arg-type]
            turn = from_euler(np.deg2rad(self.euler_degrees), "XYZ")
        if self.space == "world":
            turn = tuple(space.file_turn(turn).tolist())
        return edit.rotate(self.frame, self.joint, quaternion=turn, space=self.space, **self._how())  # type: ignore[arg-type]


@dataclass(frozen=True, kw_only=True)
class _Goes(PoseStep):
    """Something goes to a place, or by a way."""

    to: tuple[float, ...] | None = None
    by: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        self._way("to")
        self._way("by")
        if (self.to is None) == (self.by is None):
            raise OptionError(f"{self.op}: say where it goes in one way, to or by")

    def _where(self, space: PageSpace) -> dict[str, Any]:
        if self.to is not None:
            return {"to": tuple(space.file_place(self.to).tolist())}
        return {"by": tuple(space.file_way(self.by or ()).tolist())}


@dataclass(frozen=True, kw_only=True)
class Reach(_Goes):
    """Bring a hand or foot to a place or by a way, in metres."""

    op = "reach"
    joint: str

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check("joint", text("joint", self.joint))

    def do(self, edit: Edit, space: PageSpace) -> Change:
        """Does it."""
        return edit.reach(self.frame, self.joint, **self._where(space), **self._how())


@dataclass(frozen=True, kw_only=True)
class Shift(_Goes):
    """Move the figure, in metres."""

    op = "shift"

    def do(self, edit: Edit, space: PageSpace) -> Change:
        """Does it."""
        return edit.shift(self.frame, **self._where(space), **self._how())


@dataclass(frozen=True, kw_only=True)
class Mirror(PoseStep):
    """Mirror the pose of a key."""

    op = "mirror"

    def do(self, edit: Edit, space: PageSpace) -> Change:
        """Does it."""
        return edit.mirror(self.frame, **self._how())


@dataclass(frozen=True, kw_only=True)
class Paste(PoseStep):
    """Give a key the pose of another frame."""

    op = "paste"
    from_frame: int

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check("from_frame", whole("from_frame", self.from_frame, least=0))

    def do(self, edit: Edit, space: PageSpace) -> Change:
        """Does it."""
        return edit.paste(self.frame, edit.copy(self.from_frame), **self._how())


@dataclass(frozen=True, kw_only=True)
class MoveKey(KeyStep):
    """Move a key in time."""

    op = "move_key"
    to: int
    ripple: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check("to", whole("to", self.to, least=0))
        self._check("ripple", flag("ripple", self.ripple))

    def do(self, edit: Edit, space: PageSpace) -> Change:
        """Does it."""
        return edit.move_key(self.frame, self.to, ripple=self.ripple)


@dataclass(frozen=True, kw_only=True)
class InsertKey(KeyStep):
    """One key more."""

    op = "insert_key"

    def do(self, edit: Edit, space: PageSpace) -> Change:
        """Does it."""
        return edit.insert_key(self.frame)


@dataclass(frozen=True, kw_only=True)
class DeleteKey(KeyStep):
    """One key less."""

    op = "delete_key"

    def do(self, edit: Edit, space: PageSpace) -> Change:
        """Does it."""
        return edit.delete_key(self.frame)


STEPS: dict[str, type[KeyStep]] = {
    step.op: step for step in (Rotate, Reach, Shift, MoveKey, InsertKey, DeleteKey, Mirror, Paste)
}


def key_step(told: Mapping[str, Any]) -> KeyStep:
    """A step that came as plain data; what is None counts as not said."""
    if not isinstance(told, Mapping):
        raise OptionError(f"step={shown(told)}, expected a mapping such as {{'op': 'insert_key', 'frame': 30}}")
    kind = STEPS[one_of("op", told.get("op"), tuple(STEPS))]
    known = tuple(each.name for each in fields(kind))
    said = {name: value for name, value in told.items() if value is not None and name != "op"}
    needed = [each.name for each in fields(kind) if each.default is MISSING]
    return kind(**exactly(kind.op, said, known, needed))
