#!/bin/sh
# Print the path of an interpreter of the given version (python.sh 3.11), from the PATH or from pyenv; fail if there is none.
for candidate in "python$1" python3 python $(ls -d "${PYENV_ROOT:-$HOME/.pyenv}"/versions/"$1".*/bin/python 2>/dev/null); do
  found=$("$candidate" -c 'import sys; print("%d.%d" % sys.version_info[:2], sys.executable)' 2>/dev/null) || continue
  if [ "${found%% *}" = "$1" ]; then
    echo "${found#* }"
    exit 0
  fi
done
echo "no Python $1 found" >&2
exit 1
