"""Which clips are meant, as a question to the database: the same for lists and for searches."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from keypose.errors import OptionError
from keypose.library.dialects import Dialect
from keypose.library.extra import sa
from keypose.library.limbs import LIMBS
from keypose.library.tables import clips, is_there, swinging, tags
from keypose.library.wording import clean_tags, searched_words
from keypose.options import number, one_of, text


@dataclass(frozen=True)
class Filters:
    """What a clip must have to be found; the default is any clip."""

    words: tuple[str, ...] = ()  # each is a word of its names or tags, or begins one
    tags: tuple[str, ...] = ()  # it has all of them
    least_duration_s: float | None = None
    most_duration_s: float | None = None
    skeleton: str | None = None  # the hash of one: clips of that rig alone
    part: str | None = None  # a limb that swings widely

    @classmethod
    def of(
        cls,
        words: str | None = None,
        tags: Iterable[str] = (),
        least_duration_s: float | None = None,
        most_duration_s: float | None = None,
        skeleton: str | None = None,
        part: str | None = None,
    ) -> Filters:
        """What a person asked for, checked."""
        least, most = (
            None if seconds is None else number(what, seconds, least=0.0)
            for what, seconds in (("least_duration_s", least_duration_s), ("most_duration_s", most_duration_s))
        )
        if least is not None and most is not None and least > most:
            raise OptionError(f"least_duration_s={least:g}, expected at most most_duration_s={most:g}")
        return cls(
            words=() if words is None else searched_words(words),
            tags=clean_tags(tags),
            least_duration_s=least,
            most_duration_s=most,
            skeleton=None if skeleton is None else text("skeleton", skeleton),
            part=None if part is None else one_of("part", part, LIMBS),
        )

    def chosen(self, dialect: Dialect) -> sa.Select[Any] | None:
        """The numbers of the clips that a search may find; None: all. What was thrown away is on no shelf."""
        wanted = list(self._conditions(dialect))
        return sa.select(clips.c.id).where(*wanted) if wanted else None

    def listed(self, dialect: Dialect) -> sa.Select[Any]:
        """The numbers of the clips that a list has: without those that were thrown away."""
        return sa.select(clips.c.id).where(is_there(clips.c.id), *self._conditions(dialect))

    def _conditions(self, dialect: Dialect) -> Iterable[sa.ColumnElement[bool]]:
        if self.words:
            yield clips.c.id.in_(dialect.clips_with(self.words))
        if self.tags:
            have = sa.select(tags.c.clip).where(tags.c.tag.in_(self.tags)).group_by(tags.c.clip)
            yield clips.c.id.in_(have.having(sa.func.count() == len(self.tags)))
        if self.least_duration_s is not None:
            yield clips.c.duration_s >= self.least_duration_s
        if self.most_duration_s is not None:
            yield clips.c.duration_s <= self.most_duration_s
        if self.skeleton is not None:
            yield clips.c.skeleton == self.skeleton
        if self.part is not None:
            yield clips.c.id.in_(sa.select(swinging.c.clip).where(swinging.c.limb == self.part))
