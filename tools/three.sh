#!/bin/sh
# Install three.js (about 30 MB); the last line printed is its folder. See npm_cache.sh.
exec "$(dirname "$0")/npm_cache.sh" three 0.180.0
