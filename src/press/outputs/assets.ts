import { tags } from '../../desk/tags.ts';
import { DEFAULT_TYPEFACES, needsAsset } from '../../desk/typefaces.ts';
import type { Output } from '../output.ts';
import { afterPrefix, singleOutput } from '../output.ts';

/** The shared host's own icon. Each paper has its own at this address. */
const ICON = 'favicon.svg';

/** The build's files, the same for every paper, and the style of the paper's own: its hue, and its stylesheet. */
export const assets = singleOutput('assets', 'assets', (edition, tools) => {
  const { hue, typefaces = DEFAULT_TYPEFACES, style } = edition.paper();
  const own = style === undefined ? null : edition.media(style);
  return [
    ...[...tools.assets()].filter(({ path }) => path !== ICON && needsAsset(path, typefaces)),
    { path: 'hue.css', body: `:root{--hue:${hue}}\n` },
    ...(own === null ? [] : [{ path: 'style.css', copy: own.digest }]),
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
