#!/usr/bin/env bash
# One build on a machine that keeps nothing between runs: everything that cannot be made again comes from a private
# place, and goes back there before anything of it is published. Run one at a time, in the folder of a project that has
# installed broadsheet; elsewhere it builds the checkout that it belongs to.
#
#   STATE             s3://PRIVATE/state.tar.zst?endpoint=…, or a file: a backup (docs/backup.md). It holds keys. Or
#                     git:BRANCH, a branch of the repository's origin, encrypted
#   STATE_PASSPHRASE  encrypts a branch: a long random text
#   PUBLISH_URL       where readers find the papers (docs/publishing.md)
#   ORIGIN            their address
#   LOG_URL           where their log is, from which the published checkpoint is read: ORIGIN/log unless set
#   BEGIN=1           nothing is published yet: no checkpoint is read, and no backup; a branch is, if there is one
# and AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY for buckets. The program must be installed (npm ci --omit=dev); in a
# checkout, its pages are built if they are not.
set -euo pipefail
if [ -x node_modules/.bin/broadsheet ]; then
  broadsheet() { node_modules/.bin/broadsheet "$@"; }
else
  cd "$(dirname "$0")/../.."
  broadsheet() { node bin/broadsheet.mjs "$@"; }
fi
: "${STATE:?set STATE to the backup that this build goes on from, such as s3://bucket/state.tar.zst}"
: "${PUBLISH_URL:?set PUBLISH_URL to where the papers are published}"
: "${ORIGIN:?set ORIGIN to the public address of the papers}"
export ASTRO_TELEMETRY_DISABLED=1 LOG_DIR="${LOG_DIR:-dist/log}"
to=$PUBLISH_URL
# Only `publish` is to publish: commands that press would do it too, and a failure would be only a warning.
unset PUBLISH_URL

branch=
case $STATE in git:*)
  branch=${STATE#git:}
  : "${STATE_PASSPHRASE:?set STATE_PASSPHRASE, which encrypts the branch $branch, to a long random text}"
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  ;;
esac
tip=

crypt() { openssl enc -aes-256-cbc -pbkdf2 -iter 600000 -md sha256 -salt -pass env:STATE_PASSPHRASE "$@"; }

restore_state() {
  if [ -z "$branch" ]; then
    [ -n "${BEGIN:-}" ] || broadsheet restore "$STATE"
    return
  fi
  local status=0
  git ls-remote --quiet --exit-code origin "refs/heads/$branch" >/dev/null || status=$?
  case $status in
    0) ;;
    2)
      [ -z "${BEGIN:-}" ] || return 0
      echo "build: the repository has no branch $branch, which keeps the state; start the first run with BEGIN=1" >&2
      exit 1
      ;;
    *) exit $status ;;
  esac
  git fetch --quiet --depth=1 origin "refs/heads/$branch"
  tip=$(git rev-parse FETCH_HEAD)
  git cat-file blob "$tip:state.tar.zst.enc" | crypt -d >"$work/state.tar.zst" 2>/dev/null || {
    echo "build: STATE_PASSPHRASE does not open the state in the branch $branch; set the one it was made with" >&2
    exit 1
  }
  broadsheet restore "$work/state.tar.zst"
}

# The branch has one commit, the newest state: no history of encrypted files piles up. It is replaced only if it is still
# the one that was restored.
save_state() {
  if [ -z "$branch" ]; then broadsheet backup "$STATE"; return; fi
  broadsheet backup - | crypt >"$work/state.tar.zst.enc"
  local blob tree new
  blob=$(git hash-object -w "$work/state.tar.zst.enc")
  tree=$(printf '100644 blob %s\tstate.tar.zst.enc\n' "$blob" | git mktree)
  new=$(git -c user.name=broadsheet -c user.email=broadsheet@localhost commit-tree -m 'State' "$tree")
  git push --quiet --force-with-lease="refs/heads/$branch:$tip" origin "$new:refs/heads/$branch"
  tip=$new
}

# With a DATA_DIR of its own, because the build opens a database, and a restore needs an empty folder.
if [ -e bin/broadsheet.mjs ] && [ ! -e dist/server/source.txt ]; then
  DATA_DIR=$(mktemp -d) BUILD_PRESSES=off node node_modules/astro/bin/astro.mjs build >&2
fi
restore_state
if [ -z "${BEGIN:-}" ]; then
  # An old state would sign a contradiction to what readers have: compared with the published checkpoint, it signs nothing.
  mkdir -p "$LOG_DIR/desk"
  curl -fsS --retry 3 --max-time 30 -o "$LOG_DIR/desk/checkpoint" "${LOG_URL:-$ORIGIN/log}/checkpoint"
fi
broadsheet file --no-press
broadsheet press
# The state is saved before readers see its content, so that the next run can complete one that was interrupted.
save_state
broadsheet publish --to "$to"
# So that the next run knows what is published, and sends only what changed.
save_state
