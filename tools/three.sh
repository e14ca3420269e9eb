#!/bin/sh
# Installs three.js (about 30 MB); the last line printed is the folder that holds it. See npm_cache.sh.
exec "$(dirname "$0")/npm_cache.sh" three 0.180.0
