#!/usr/bin/env bash
# "compose.sh up [options]": make the secrets on first use, build, start, wait until everything is healthy, say how to connect.
# "compose.sh down [options]": stop and remove the containers; volumes and secrets stay. Both may be repeated.
# OVERLAYS="grpc scale" adds deploy/compose.<name>.yaml. COMPOSE is the command, if not docker compose or docker-compose.
set -euo pipefail
cd "$(dirname "$0")/.."
export HINDSIGHT_SECRETS="${HINDSIGHT_SECRETS:-$PWD/deploy/secrets}"

fail() { echo "make $action: $1" >&2; exit 1; }

find_compose() {
  if [ -n "${COMPOSE:-}" ]; then read -ra compose <<< "$COMPOSE"
  elif docker compose version > /dev/null 2>&1; then compose=(docker compose)
  elif command -v docker-compose > /dev/null; then compose=(docker-compose)
  elif command -v docker > /dev/null; then
    fail "Docker is here, but its Compose plugin is not (docker compose version); install it, or use make run, which needs neither"
  else
    fail "Docker is not installed (Docker Desktop, or Docker Engine with the Compose plugin); make run works without it"
  fi
  # Compose itself is asked, since it finds the engine as it will later (context, DOCKER_HOST).
  if ! why="$("${compose[@]}" ls 2>&1)"; then fail "Docker's engine does not answer; is it running, and may you use it? It says: $why"; fi
  compose+=(-f deploy/compose.yaml)
  for overlay in ${OVERLAYS:-}; do
    [ -e "deploy/compose.$overlay.yaml" ] || fail "there is no overlay $overlay (deploy/compose.$overlay.yaml)"
    compose+=(-f "deploy/compose.$overlay.yaml")
  done
}

ctl() { "${compose[@]}" run --rm -T ctl "$@" 2> >(grep -v ' Container .* ' >&2); }

# A key for the first client, made once and again only where the database does not know it any more.
ensure_key() {
  local file="$HINDSIGHT_SECRETS/client.env" made
  if [ -e "$file" ] && grep -qF "\"$(sed -n 's/^KEY_ID=//p' "$file")\"" <<< "$(ctl key list --json)"; then return; fi
  made="$(ctl key create default --default-agent default --json)"
  (
    umask 077
    sed -n 's/^  "id": "\([^"]*\)".*/KEY_ID=\1/p; s/^  "secret": "\([^"]*\)".*/HINDSIGHT_API_KEY=\1/p' <<< "$made" > "$file.new"
  )
  grep -q '^HINDSIGHT_API_KEY=hs_' "$file.new" || fail "making the first API key failed"
  mv -f "$file.new" "$file"
}

up() {
  tools/compose-secrets.sh
  if [ $# = 0 ]; then set -- --build; fi
  if ! "${compose[@]}" up -d --wait --wait-timeout 300 "$@"; then
    echo >&2
    "${compose[@]}" ps --all >&2
    fail "not everything is healthy; look at: ${compose[*]} logs --tail 20 SERVICE"
  fi
  ensure_key
  cat <<TEXT

hindsight runs.
  MCP     http://localhost:${HINDSIGHT_EDGE_PORT:-8080}/mcp    older clients: http://localhost:${HINDSIGHT_EDGE_PORT:-8080}/mcp/sse
  health  http://localhost:${HINDSIGHT_EDGE_PORT:-8080}/health
  key     HINDSIGHT_API_KEY in ${HINDSIGHT_SECRETS#"$PWD"/}/client.env

A client that connects by HTTP:
  {"mcpServers": {"hindsight": {"url": "http://localhost:${HINDSIGHT_EDGE_PORT:-8080}/mcp",
                                "headers": {"Authorization": "Bearer \${HINDSIGHT_API_KEY}"}}}}
A client that starts a command (stdio):
  {"mcpServers": {"hindsight": {"command": "docker", "args": ["compose", "-f", "$PWD/deploy/compose.yaml", "exec", "-T",
    "-e", "HINDSIGHT_API_KEY", "mcp-edge", "hindsight-mcp-edge", "--stdio"], "env": {"HINDSIGHT_API_KEY": "hs_…"}}}}

Stop with make down; the data stays. Operate: ${compose[*]} ps, logs, run --rm ctl key list
TEXT
}

down() {
  # Compose reads every env file it names, also to stop.
  tools/compose-secrets.sh
  "${compose[@]}" down --remove-orphans "$@"
}

action="${1:-}"
case "$action" in
  up | down) shift; find_compose; "$action" "$@" ;;
  *) echo "usage: compose.sh up|down [options]" >&2; exit 2 ;;
esac
