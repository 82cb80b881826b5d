#!/bin/sh
# Ships the database to a path of its own in a bucket, and runs a command, the server, once all of it is there. Both end
# together. docs/backup.md says what this does not carry, and how to restore.
#
#   export DATABASE=/srv/broadsheet/var/broadsheet.db BACKUP_BUCKET=… BACKUP_ENDPOINT=https://s3.example.net
#   deploy/litestream.sh npm start
#
# Credentials come from AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY.
set -eu
config=$(dirname "$(realpath "$0")")/litestream.yml

if [ "${1:-}" = --shipped ]; then
  until litestream restore -config "$config" -dry-run -o "$DATABASE.none" "$DATABASE" >/dev/null 2>&1; do sleep 1; done
  eval "exec $SERVER"
fi

# While this folder is there, the server leaves checkpoints to Litestream.
folder=$(dirname "$DATABASE")/.$(basename "$DATABASE")-litestream
rm -rf "$folder"
mkdir "$folder"
BACKUP_PATH=litestream/$(date +%s)
SERVER=$*
export BACKUP_PATH SERVER
exec litestream replicate -config "$config" -exec "'$0' --shipped"
