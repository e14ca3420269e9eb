"""Pictures of motions: strips of poses, timelines, curves, charts, HTML reports and notebook cards.

``svg.py`` defines the colours, the SVG text helpers and the ``Picture`` type. Other modules use it: ``figure/``
(bodies), ``view.py`` (camera) and ``strip/``; ``chart/`` and the pictures with charts; ``cards.py`` for notebooks;
``page.py`` with ``report/`` and ``comparison/``.
"""
