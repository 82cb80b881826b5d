import { tags } from '../../desk/tags.ts';
import type { Output } from '../output.ts';
import { singleOutput, afterPrefix } from '../output.ts';

/** What the build made for every paper, and the one rule that is the paper's own: its hue. */
export const assets = singleOutput('assets', 'matter', (edition, tools) => [
  ...tools.assets(),
  { path: 'hue.css', body: `:root{--hue:${edition.paper().hue}}\n` },
]);

/** A media file, at the path under which it was filed: its address stays when its content changes. */
export const media: Output = {
  kind: 'media',
  stage: 'matter',
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
