#!/usr/bin/env bash
# make compose-test. Uses the Docker engine that answers; where none does, starts Debian's as root for the time of the test, with
# stand-ins for the public images made from Debian's packages, and puts everything back at the end.
# Stand-ins are kept in HINDSIGHT_STANDINS (default ~/.cache/hindsight-standins), so a second run is quick.
set -euo pipefail
cd "$(dirname "$0")/../.."
here="$PWD/tests/compose"
cache="${HINDSIGHT_STANDINS:-$HOME/.cache/hindsight-standins}"
began=$SECONDS

say() { printf 'compose-test [%3d s] %s\n' $((SECONDS - began)) "$*"; }
skip() { printf '\nSKIPPED: compose-test: %s\n0 passed, 0 failed, 1 skipped\n' "$*"; exit 0; }

work="" engine=""
put_back() {
  local code=$?
  set +e
  if [ -n "$engine" ]; then
    say "ending the engine"
    "$docker" ps -aq | xargs -r "$docker" rm -f > /dev/null 2>&1
    "$docker" network prune -f > /dev/null 2>&1
    kill "$engine"
    for _ in $(seq 100); do kill -0 "$engine" 2> /dev/null || break; sleep 0.1; done
    kill -9 "$engine" 2> /dev/null
    wait "$engine" 2> /dev/null
    ip link delete docker0 2> /dev/null
    echo "$forwarding" > /proc/sys/net/ipv4/ip_forward
    for table in filter nat; do # what did not exist before is not in what was saved
      if ! grep -q "^\*$table" "$work/iptables"; then iptables -t "$table" -F; iptables -t "$table" -X; fi
    done
    iptables-restore < "$work/iptables"
    iptables -P FORWARD "$policy"
    mount | sed -n "s|.* on \($work[^ ]*\) .*|\1|p" | sort -r | xargs -r umount -l
  fi
  if [ -n "$work" ]; then rm -rf --one-file-system "$work"; fi
  exit $code
}

# A client that builds: the one of Debian's package does by itself, a newer one needs the plugin buildx.
find_docker() {
  for docker in /usr/bin/docker docker; do
    if command -v "$docker" > /dev/null && "$docker" build --help 2> /dev/null | grep -q -- --file; then return; fi
  done
  docker=docker
}

install_engine() {
  if command -v dockerd > /dev/null && command -v iptables > /dev/null && command -v mmdebstrap > /dev/null; then return; fi
  command -v apt-get > /dev/null || skip "no Docker engine answers, and this is not a Debian where one could be installed"
  say "installing docker.io, iptables, mmdebstrap"
  { apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends docker.io iptables mmdebstrap; } \
    > "$work/apt.log" 2>&1 || { tail -5 "$work/apt.log"; skip "docker.io, iptables and mmdebstrap could not be installed"; }
}

start_engine() {
  local rules
  forwarding="$(cat /proc/sys/net/ipv4/ip_forward)"
  rules="$(iptables -S FORWARD 2> "$work/iptables.log")" || { cat "$work/iptables.log"; skip "iptables does not work here"; }
  policy="$(sed -n 's/^-P FORWARD //p' <<< "$rules")"
  iptables-save > "$work/iptables"
  export DOCKER_HOST="unix://$work/docker.sock"
  ulimit -n "$(ulimit -Hn)"
  dockerd --data-root "$work/data" --exec-root "$work/exec" --pidfile "$work/dockerd.pid" --host "$DOCKER_HOST" \
    --storage-driver overlay2 > "$work/dockerd.log" 2>&1 9>&- &
  engine=$!
  for _ in $(seq 300); do
    if "$docker" info > /dev/null 2>&1; then return; fi
    kill -0 "$engine" 2> /dev/null || break
    sleep 0.1
  done
  tail -15 "$work/dockerd.log"
  skip "dockerd does not start here; its last lines are above"
}

# A root file system of Debian packages: NAME SUITE PACKAGES. Kept as long as this list stays as it is.
provide_root() {
  local name="$1" suite="$2" packages="$3" tar
  tar="$cache/$name-$(printf '%s' "$suite $packages" | sha256sum | head -c 12).tar"
  if [ ! -e "$tar" ]; then
    say "making a $suite root with $packages (a minute or two, once)"
    mkdir -p "$cache"
    rm -f "$cache/$name"-*.tar
    mmdebstrap --quiet --variant=apt --include="$packages" "$suite" "$tar.part.tar" > "$work/$name.log" 2>&1 \
      || { tail -5 "$work/$name.log"; skip "mmdebstrap could not make a $suite root"; }
    mv "$tar.part.tar" "$tar"
  fi
  "$docker" import "$tar" "hindsight-standin/$name-root" > /dev/null
}

provide_standins() {
  provide_root python bookworm ca-certificates,passwd,python3,python3-venv,python3-pip
  provide_root data trixie passwd,postgresql-17,postgresql-17-pgvector,redis-server,haproxy
  cp -r "$here/standins" "$work/standins"
  # What this machine's pip trusts, the builds trust too. Inside a container neither this machine's proxies nor its folders exist.
  cp "${PIP_CERT:-/etc/ssl/certs/ca-certificates.crt}" "$work/standins/ca-certificates.crt"
  printf '[global]\ncert = /etc/ssl/certs/ca-certificates.crt\n' > "$work/standins/pip.conf"
  local index
  index="$(pip config get global.index-url 2> /dev/null || true)"
  if [ -n "${PIP_INDEX_URL:-$index}" ]; then echo "index-url = ${PIP_INDEX_URL:-$index}" >> "$work/standins/pip.conf"; fi
  for pair in python=python:3.11-slim-bookworm postgres=pgvector/pgvector:pg16 redis=redis:7-alpine proxy=haproxy:3.0-alpine; do
    "$docker" build -q -f "$work/standins/${pair%%=*}.Dockerfile" -t "${pair#*=}" "$work/standins" > /dev/null
  done
}

work="$(mktemp -d "${TMPDIR:-/var/tmp}/hindsight-compose-XXXXXX")"
trap put_back EXIT
trap 'exit 130' INT TERM
find_docker
if command -v "$docker" > /dev/null && "$docker" info > /dev/null 2>&1; then
  say "using the engine that answers, with the public images"
else
  if [ "$(id -u)" != 0 ]; then skip "no Docker engine answers, and only root can start one"; fi
  if [ "$(uname -s)" != Linux ]; then skip "no Docker engine answers; start Docker Desktop"; fi
  exec 9> /run/hindsight-compose-test.lock
  if ! flock --nonblock 9; then # each puts the machine's forwarding back as it found it, so one at a time
    say "waiting for another compose-test on this machine"
    flock 9
  fi
  install_engine
  find_docker
  say "starting an engine"
  start_engine
  provide_standins
fi
say "building the images"
for service in ingest recall embed mcp-edge; do
  DOCKER_BUILDKIT=1 "$docker" build -f "services/$service/Dockerfile" -t "hindsight-$service:compose-test" . > "$work/$service.log" 2>&1 \
    || { tail -30 "$work/$service.log"; exit 1; }
  say "built $service"
done
say "testing"
export HINDSIGHT_COMPOSE_TEST=1 HINDSIGHT_TAG=compose-test DOCKER="$docker" COMPOSE="$PWD/.venv/bin/docker-compose"
.venv/bin/pytest tests/compose -p no:cacheprovider "$@"
say "done"
