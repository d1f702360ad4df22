#!/bin/sh
# What the postgres image's entry point does with the settings that compose.yaml uses: initialise an empty data folder, then serve.
set -eu
case "${1:-}" in postgres) ;; *) exec "$@" ;; esac
if [ ! -s "$PGDATA/PG_VERSION" ]; then
  if [ -n "${POSTGRES_PASSWORD_FILE:-}" ]; then POSTGRES_PASSWORD="$(cat "$POSTGRES_PASSWORD_FILE")"; fi
  umask 077
  printf '%s\n' "${POSTGRES_PASSWORD:?}" > /tmp/password
  # shellcheck disable=SC2086 # several options
  initdb -D "$PGDATA" --username=postgres --pwfile=/tmp/password --auth-host=scram-sha-256 ${POSTGRES_INITDB_ARGS:-}
  rm /tmp/password
  echo "listen_addresses = '*'" >> "$PGDATA/postgresql.conf"
  echo "host all all all scram-sha-256" >> "$PGDATA/pg_hba.conf"
  pg_ctl -D "$PGDATA" -o "-c listen_addresses=''" -w start # as there: on the socket only, until it is ready
  if [ "${POSTGRES_DB:-postgres}" != postgres ]; then createdb -U postgres "$POSTGRES_DB"; fi
  pg_ctl -D "$PGDATA" -m fast -w stop
fi
unset POSTGRES_PASSWORD
exec "$@"
