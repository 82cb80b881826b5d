import type { Edition } from '../edition.ts';
import { fileUrl } from '../feeds/channel.ts';
import type { Logo } from '../structured-data.ts';
import { largestIcon } from './icons.ts';

/**
 * The paper's logo with its size, for programs; its icon as a PNG when it has no logo of a known size or the file is
 * missing.
 */
export function logoOf(edition: Edition): Logo {
  const { root } = edition.site;
  const { logo } = edition.paper();
  const src = typeof logo === 'string' ? logo : logo?.light;
  const { width = null, height = null, missing } = (src === undefined ? null : edition.media(src)) ?? {};
  if (src !== undefined && !missing && width !== null && height !== null)
    return { url: fileUrl(root, src), width, height };
  const { path, side } = largestIcon(edition);
  return { url: fileUrl(root, path), width: side, height: side };
}
