#!/bin/sh
# Installs programs that are missing, by Debian's package manager: need.sh node npm
set -e
for program in "$@"; do
  command -v "$program" >/dev/null && continue
  case $program in
    node) package=nodejs ;;
    *) package=$program ;;
  esac
  echo "installing $package"
  [ "$(id -u)" = 0 ] && as_root= || as_root=sudo
  $as_root apt-get install -y -q "$package" || { $as_root apt-get update -q && $as_root apt-get install -y -q "$package"; }
done
