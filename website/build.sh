#!/usr/bin/env bash
# Builds the manual of this checkout into website/dist, and below it that of every release in versions.json.
#   SITE=https://example.org/broadsheet/ REPOSITORY=https://github.com/OWNER/NAME website/build.sh
set -euo pipefail
cd "$(dirname "$0")"
site="${SITE:-http://localhost:4321/}"
site="${site%/}/"
base=$(node -p 'new URL(process.argv[1]).pathname' "$site")

# The addresses in versions.json are below the site's.
versions=$(jq -c --arg base "$base" 'map(.path = $base + (.path | ltrimstr("/")))' versions.json)
tmp=$(mktemp -d)
trap 'git worktree remove --force "$tmp/release" 2>/dev/null || true; rm -rf "$tmp"' EXIT

# build FOLDER PATH: the manual of a checkout, as it will be at a path below the site
build() (
  cd "$1"
  npm ci --no-audit --no-fund
  cd website
  npm ci --no-audit --no-fund
  SITE="$site$2" VERSIONS="$versions" npm run build
)

build .. ""
for ref in $(jq -r '.[] | select(.ref) | .ref' versions.json); do
  git worktree add --force "$tmp/release" "$ref"
  path=$(jq -r --arg ref "$ref" '.[] | select(.ref == $ref) | .path | ltrimstr("/")' versions.json)
  build "$tmp/release" "$path"
  mkdir -p "dist/$path"
  cp -r "$tmp/release/website/dist/." "dist/$path"
  git worktree remove --force "$tmp/release"
done
