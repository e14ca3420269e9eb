"""Motion to see: strips of poses, timelines, curves, charts, the report, and what nouns show in a notebook.

``theme.py`` has the colours, ``svg.py`` the words, ``picture.py`` the noun that saves itself. On these stand
``figure/`` (bodies), ``view.py`` (the camera) and ``strip/``; ``chart/`` and what is drawn with it; ``cards/`` for
notebooks; ``page/`` with ``report/`` and ``comparison/``.
"""
