"""What a person does with one clip, as plain data: chooses keys, draws curves through them, edits, takes away.

``recipe.py`` says how keys are chosen and ``rungs.py`` chooses them; ``curves.py`` draws curves through keys and
``straying.py`` measures them; ``steps.py``, ``swing_steps.py`` and ``drafts.py`` are edits as data, which
``editing.py`` makes. ``space.py`` is the space in which pages show a figure, ``showing.py`` what they show, ``face.py``
where it looks, ``packet.py`` how it travels. ``facts.py`` is what there is to know about a clip, ``taking.py`` what it
leaves as.

Nothing here knows of HTTP. Results are those of the verbs, bit by bit.
"""

from keypose.workbench.comparing import Compared, compare
from keypose.workbench.curves import Bench, Unbaked
from keypose.workbench.drafts import Draft, KeysDraft, SwingsDraft, draft_of
from keypose.workbench.editing import Edited, edited
from keypose.workbench.facts import MotionFacts, facts_of
from keypose.workbench.names import safe_stem
from keypose.workbench.packet import packet
from keypose.workbench.recipe import Recipe, usual_options
from keypose.workbench.rungs import Rungs, ladder_of, with_keys
from keypose.workbench.showing import Shown, shown, step_of
from keypose.workbench.space import PageSpace, page_space
from keypose.workbench.straying import Straying, straying
from keypose.workbench.taking import Taken, Wanted, take_away

__all__ = [
    "Bench",
    "Compared",
    "Draft",
    "Edited",
    "KeysDraft",
    "MotionFacts",
    "PageSpace",
    "Recipe",
    "Rungs",
    "Shown",
    "Straying",
    "SwingsDraft",
    "Taken",
    "Unbaked",
    "Wanted",
    "compare",
    "draft_of",
    "edited",
    "facts_of",
    "ladder_of",
    "packet",
    "page_space",
    "safe_stem",
    "shown",
    "step_of",
    "straying",
    "take_away",
    "usual_options",
    "with_keys",
]
