#!/bin/sh
# Install programs that are missing: need.sh node npm
set -e
for program in "$@"; do
  command -v "$program" >/dev/null && continue
  case $program in
    node) package=nodejs ;;
    *) package=$program ;;
  esac
  "$(dirname "$0")/apt.sh" "$package"
done
