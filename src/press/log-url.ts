import type { PaperRecord } from '../desk/paper.ts';
import { LOG_SLUG } from '../desk/paper.ts';
import type { Site } from './edition.ts';

/**
 * The address of the transparency log on the host of the page, with its trailing slash: at the root of the shared host,
 * or below the root of the paper's own address. A story page may only fetch from its own host. It is absolute where
 * `base` is.
 */
export function logUrl({ url }: Pick<PaperRecord, 'url'>, { root, base, isShared }: Site): string {
  if (url !== undefined && !isShared) return `${base}/${LOG_SLUG}/`;
  const path = `/${LOG_SLUG}/`;
  return base === root ? new URL(path, root).href : path;
}
