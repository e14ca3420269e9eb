"""Balance: the centre of mass of a figure against the support of its feet, and whether an edit tips it over.

``body.py`` finds the segments of a body on a skeleton, their masses, and the support of the feet; ``measure.py``
combines them to a ``Balance`` and compares two of them.
"""

from keypose.balance.measure import Balance, Tip, balance, tips_over

__all__ = ["Balance", "Tip", "balance", "tips_over"]
