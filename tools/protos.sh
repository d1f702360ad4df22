#!/usr/bin/env bash
# Generates the Python stubs into the folder given (default: protos/gen), whole or not at all.
set -euo pipefail
cd "$(dirname "$0")/.."
out="${1:-protos/gen}"
python="${PYTHON:-.venv/bin/python}"
fresh="$(mktemp -d)"
trap 'rm -rf "$fresh"' EXIT
"$python" -m grpc_tools.protoc -I protos --python_out="$fresh" --pyi_out="$fresh" --grpc_python_out="$fresh" protos/hindsight/v1/*.proto
touch "$fresh/hindsight/__init__.py" "$fresh/hindsight/v1/__init__.py"
mkdir -p "$out"
rm -rf "$out/hindsight"
mv "$fresh/hindsight" "$out/"
