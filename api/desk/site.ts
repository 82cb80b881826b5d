import { paperRoot } from '../../src/desk/paper.ts';
import type { Workshop } from '../../src/works/workshop.ts';

/** A request's paper, and the path under the paper's root, with its first slash. */
export interface Site {
  paper: string;
  root: string;
  path: string;
}

/**
 * Which paper an address is of: by its host, where a paper has a domain of its
 * own, else by its first segment. Null for the newsstand's own addresses. A
 * private paper is as one that does not exist.
 */
export function siteOf({ store, settings }: Workshop, host: string, path: string): Site | null {
  let isOwnHost = false;
  for (const slug of store.paperSlugs()) {
    const paper = store.paper(slug);
    if (paper?.url === undefined || !paper.paper_public) continue;
    const own = new URL(paper.url);
    const base = own.pathname.replace(/\/$/, '');
    if (own.host !== host) continue;
    isOwnHost = host !== new URL(settings.origin).host;
    if (path === base || path.startsWith(`${base}/`)) {
      return { paper: slug, root: paper.url, path: path.slice(base.length) };
    }
  }
  // A paper's own domain shows no other paper.
  if (isOwnHost) return null;
  const [, slug = '', rest] = /^\/([^/]+)(\/.*)?$/.exec(path) ?? [];
  const paper = store.paper(slug);
  if (paper === null || !paper.paper_public) return null;
  return { paper: slug, root: paperRoot(paper, settings.origin), path: rest ?? '' };
}
