#!/usr/bin/env bash
# Makes the secrets of the Compose deployment on first use: an env file a container, so that each knows its own only.
# What is there stays as it is. HINDSIGHT_SECRETS names another folder.
set -euo pipefail
cd "$(dirname "$0")/.."
folder="${HINDSIGHT_SECRETS:-deploy/secrets}"
umask 077
mkdir -p "$folder"
chmod 700 "$folder"

random() { head -c 32 /dev/urandom | base64 | tr '+/' '-_' | tr -d '=\n'; }

# One file holds what was drawn; the others are written from it, so that an interrupted run is completed by the next.
drawn="$folder/drawn.env"
for name in OWNER_PASSWORD INGEST_PASSWORD RECALL_PASSWORD MAINTENANCE_PASSWORD REDIS_PASSWORD EMBED_TOKEN RECORD_TOKEN OPERATOR_KEY; do
  grep -q "^$name=" "$drawn" 2>/dev/null && continue
  if [ "$name" = OPERATOR_KEY ]; then value="hs_$(random)"; else value="$(random)"; fi
  printf '%s=%s\n' "$name" "$value" >> "$drawn"
done
# shellcheck source=/dev/null
. "$drawn"

put() { # NAME: the container's file, replaced at once
  cat > "$folder/$1.new"
  mv -f "$folder/$1.new" "$folder/$1"
}

at() { printf 'DATABASE_URL=postgresql://%s:%s@postgres:5432/hindsight\n' "$1" "$2"; }

put postgres.env <<< "POSTGRES_PASSWORD=$OWNER_PASSWORD"
put redis.env <<< "REDIS_PASSWORD=$REDIS_PASSWORD
REDISCLI_AUTH=$REDIS_PASSWORD"
put embed.env <<< "HINDSIGHT_EMBED_TOKEN=$EMBED_TOKEN"
put ctl.env <<< "HINDSIGHT_API_KEY=$OPERATOR_KEY"
put migrate.env <<< "$(at postgres "$OWNER_PASSWORD")
HINDSIGHT_INGEST_DB_PASSWORD=$INGEST_PASSWORD
HINDSIGHT_RECALL_DB_PASSWORD=$RECALL_PASSWORD
HINDSIGHT_MAINTENANCE_DB_PASSWORD=$MAINTENANCE_PASSWORD
HINDSIGHT_OPERATOR_KEY=$OPERATOR_KEY"
put ingest.env <<< "$(at hindsight_ingest "$INGEST_PASSWORD")
REDIS_URL=redis://:$REDIS_PASSWORD@redis:6379/0
HINDSIGHT_EMBED_TOKEN=$EMBED_TOKEN
HINDSIGHT_RECORD_TOKEN=$RECORD_TOKEN"
put worker.env <<< "$(at hindsight_ingest "$INGEST_PASSWORD")
HINDSIGHT_MAINTENANCE_DATABASE_URL=postgresql://hindsight_maintenance:$MAINTENANCE_PASSWORD@postgres:5432/hindsight
REDIS_URL=redis://:$REDIS_PASSWORD@redis:6379/0
HINDSIGHT_EMBED_TOKEN=$EMBED_TOKEN"
put recall.env <<< "$(at hindsight_recall "$RECALL_PASSWORD")
REDIS_URL=redis://:$REDIS_PASSWORD@redis:6379/0
HINDSIGHT_EMBED_TOKEN=$EMBED_TOKEN
HINDSIGHT_RECORD_TOKEN=$RECORD_TOKEN"
# The one secret that is not drawn: the key of an LLM's endpoint, for the operator to fill in.
[ -e "$folder/llm.env" ] || put llm.env <<< "HINDSIGHT_LLM_API_KEY="
