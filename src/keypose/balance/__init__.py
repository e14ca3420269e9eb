"""Balance: the centre of mass of a figure against the support of its feet, and whether an edit tips it over.

``segments.py`` has the masses, ``body.py`` finds the segments on a skeleton, ``support.py`` computes the support of the
feet, ``measure.py`` combines them, ``result.py`` has the type Balance and ``tip.py`` compares two of them.
"""

from keypose.balance.measure import balance
from keypose.balance.result import Balance
from keypose.balance.tip import Tip, tips_over

__all__ = ["Balance", "Tip", "balance", "tips_over"]
