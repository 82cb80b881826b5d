#!/usr/bin/env bash
# Makes what a release attaches beside the packages that are in the folder already: release.sh TAG FOLDER
# The archive names its commit (.gitattributes); its licences are checked by third-party.mjs. Run `npm ci` first.
set -euo pipefail
cd "$(dirname "$0")/.."
tag=${1:?name the tag, such as v0.1.0}
folder=${2:?name the folder for the files}
version=$(node -p 'require("./package.json").version')
[ "$tag" = "v$version" ] || {
  echo "release: the tag is $tag, but package.json has the version $version; correct one of them" >&2
  exit 1
}
heading=$(grep -E "^## $version( |\$)" CHANGELOG.md || true)
[[ -n "$heading" && "$heading" != *unreleased* ]] || {
  echo "release: CHANGELOG.md has no heading \"## $version\" without \"(unreleased)\"; add it before the tag" >&2
  exit 1
}
mkdir -p "$folder"
# Nothing of the archive depends on the time or the machine: gzip writes no name and no time.
git archive --format=tar --prefix="broadsheet-$version/" HEAD | gzip -n9 >"$folder/broadsheet-$version.tar.gz"
node tools/third-party.mjs >"$folder/THIRD-PARTY.txt"
cd "$folder"
rm -f SHA256SUMS
sha256sum -- * >SHA256SUMS
