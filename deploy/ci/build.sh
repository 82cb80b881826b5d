#!/usr/bin/env bash
# One build on a machine that keeps nothing between runs: everything that cannot be made again comes from a private
# bucket, and goes back there before anything of it is published. Run one at a time.
#
#   STATE            s3://PRIVATE/state.tar.zst?endpoint=…, or a file: a backup (docs/backup.md). It holds keys
#   PUBLISH_URL      where readers find the papers (docs/publishing.md)
#   ORIGIN           their address, from which the published checkpoint of the log is read
#   BEGIN=1          the first run: there is no state yet, and no log
# and AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY. The program must be installed (npm ci --omit=dev), and its pages are
# built if they are not.
set -euo pipefail
cd "$(dirname "$0")/../.."
: "${STATE:?set STATE to the backup that this build goes on from, such as s3://bucket/state.tar.zst}"
: "${PUBLISH_URL:?set PUBLISH_URL to where the papers are published}"
: "${ORIGIN:?set ORIGIN to the public address of the papers}"
export ASTRO_TELEMETRY_DISABLED=1 LOG_DIR="${LOG_DIR:-dist/log}"
to=$PUBLISH_URL
# Only publish publishes: commands that press would do it too, and a failure would be a warning.
unset PUBLISH_URL

broadsheet() { node bin/broadsheet.mjs "$@"; }

# A build opens a database, and a restore wants an empty place.
[ -e dist/server/source.txt ] || DATA_DIR=$(mktemp -d) BUILD_PRESSES=off node node_modules/astro/bin/astro.mjs build >&2
if [ -z "${BEGIN:-}" ]; then
  broadsheet restore "$STATE"
  # An old state would sign what contradicts what readers have: the published checkpoint tells, and nothing is signed.
  mkdir -p "$LOG_DIR/desk"
  curl -fsS --retry 3 --max-time 30 -o "$LOG_DIR/desk/checkpoint" "$ORIGIN/log/checkpoint"
fi
broadsheet file --no-press
broadsheet press
# What readers see is in the state from before they see it: a run that is cut short is completed by the next one.
broadsheet backup "$STATE"
broadsheet publish --to "$to"
# So that the next run knows what is published, and sends only what changed.
broadsheet backup "$STATE"
