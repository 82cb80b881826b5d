import type { PaperRecord } from '../desk/paper.ts';
import { LOG_SLUG } from '../desk/paper.ts';
import type { Site } from './edition.ts';

/**
 * The path of the transparency log on the paper's own host, with its trailing slash: at the root of the shared host, or
 * below the root of the paper's own address. A story page may only fetch from its own host.
 */
export function logUrl({ url }: Pick<PaperRecord, 'url'>, { base }: Pick<Site, 'base'>): string {
  return `${url === undefined ? '' : base}/${LOG_SLUG}/`;
}
