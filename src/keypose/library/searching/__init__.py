"""Search by example: whole clips, parts of clips, poses.

``search.py`` has the verbs. ``filters.py`` says which clips may be found, a ``Shelf`` gives those worth ranking
(``memory_shelf.py``: all, from memory), ``finders.py`` and ``posing.py`` rank them, ``folding.py`` puts copies of one
take together, and ``hits.py`` holds what is found.
"""
