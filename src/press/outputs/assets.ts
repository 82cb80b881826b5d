import { tags } from '../../desk/tags.ts';
import { DEFAULT_TYPEFACES, needsAsset } from '../../desk/typefaces.ts';
import type { Output } from '../output.ts';
import { afterPrefix, singleOutput } from '../output.ts';

/** The build's files, the same for every paper, and the only style rule of the paper's own: its hue. */
export const assets = singleOutput('assets', 'assets', (edition, tools) => {
  const { hue, typefaces = DEFAULT_TYPEFACES } = edition.paper();
  return [
    ...[...tools.assets()].filter(({ path }) => needsAsset(path, typefaces)),
    { path: 'hue.css', body: `:root{--hue:${hue}}\n` },
  ];
});

/** A media file, at the path under which it was filed. The address stays the same when the content changes. */
export const media: Output = {
  kind: 'media',
  stage: 'assets',
  *keysForTag(tag) {
    const path = afterPrefix(tags.media(''), tag);
    if (path !== null) yield path;
  },
  allKeys: (edition) => edition.everyMedia(),
  print(edition, path) {
    const found = edition.media(path);
    return found === null ? null : [{ path, copy: found.digest }];
  },
};
