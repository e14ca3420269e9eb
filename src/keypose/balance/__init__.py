"""Balance: the centre of mass of a figure against the feet that it stands on, and whether an edit tips it over.

``segments.py`` holds the masses, ``body.py`` finds their ends on a skeleton, ``support.py`` is the ground under the
feet, ``measure.py`` puts them together and ``tipping.py`` compares two of them.
"""

from keypose.balance.measure import balance
from keypose.balance.noun import Balance
from keypose.balance.tipping import Tip, tips_over

__all__ = ["Balance", "Tip", "balance", "tips_over"]
