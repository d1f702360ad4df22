#!/usr/bin/env bash
# The Dockerfiles and Compose files as far as they can be checked without an engine: hadolint, and Compose's own reading of every
# combination of files.
set -euo pipefail
cd "$(dirname "$0")/.."
.venv/bin/hadolint services/*/Dockerfile
HINDSIGHT_SECRETS="$(mktemp -d)"
export HINDSIGHT_SECRETS
trap 'rm -rf "$HINDSIGHT_SECRETS"' EXIT
tools/compose-secrets.sh
for overlays in "" "grpc" "scale"; do
  files=(-f deploy/compose.yaml)
  for overlay in $overlays; do files+=(-f "deploy/compose.$overlay.yaml"); done
  .venv/bin/docker-compose "${files[@]}" --profile '*' config --quiet
done
echo "containers: Dockerfiles and Compose files are well"
