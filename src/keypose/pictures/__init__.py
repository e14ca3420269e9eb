"""Pictures of motions: strips of poses, timelines, curves, charts, HTML reports and notebook cards.

``svg.py`` has the colours, the SVG text helpers and the ``Picture`` type. Built on these: ``figure/`` (bodies),
``view.py`` (camera) and ``strip/``; ``chart/`` and the pictures that use it; ``cards.py`` for notebooks; ``page.py``
with ``report/`` and ``comparison/``.
"""
