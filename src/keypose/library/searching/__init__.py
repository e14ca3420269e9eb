"""Search by example: whole clips, parts of clips, poses.

``search.py`` has the verbs, ``asking.py`` is what is looked for. A ``Shelf`` gives the clips worth ranking
(``memory_shelf.py``: all, from memory; ``pg_shelf.py``: what the index of PostgreSQL finds near), ``finders.py`` and
``posing.py`` rank them, ``folding.py`` puts copies of one take together, and ``hits.py`` holds what is found.
"""
