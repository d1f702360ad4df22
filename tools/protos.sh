#!/usr/bin/env bash
# Generates the Python stubs into the folder given (default: protos/gen).
set -euo pipefail
cd "$(dirname "$0")/.."
out="${1:-protos/gen}"
python="${PYTHON:-.venv/bin/python}"
mkdir -p "$out"
rm -rf "$out/hindsight"
"$python" -m grpc_tools.protoc -I protos --python_out="$out" --pyi_out="$out" --grpc_python_out="$out" protos/hindsight/v1/*.proto
touch "$out/hindsight/__init__.py" "$out/hindsight/v1/__init__.py"
