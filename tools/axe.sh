#!/bin/sh
# Installs axe-core, which judges whether pages can be used without eyes or a mouse (3 MB); the last line printed is the
# folder that holds it. See npm_cache.sh.
exec "$(dirname "$0")/npm_cache.sh" axe-core 4.10.2
