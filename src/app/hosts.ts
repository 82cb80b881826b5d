import { hostKey, hostOfPaper, paperAt, servedAt, unfitHost } from '../desk/host.ts';
import type { Paper } from '../desk/paper.ts';
import { Fault, refused } from '../fault.ts';
import type { AppContext } from './context.ts';

/** The other papers that are served at addresses of their own. */
function others({ store }: AppContext, slug: string): Paper[] {
  const papers = store.paperSlugs().flatMap((other) => (other === slug ? [] : (store.paper(other) ?? [])));
  return servedAt(papers, store.hosts);
}

/** Throws `refused_by_door` when another paper is served at an address that a paper's file gives it. */
export function needFreeAddress(app: AppContext, slug: string, url: string | undefined): void {
  const other = url === undefined ? null : paperAt(url, others(app, slug));
  if (other === null) return;
  const message = `${url} is the address of ${other.slug}, or lies within it; give one of its own`;
  throw refused([{ field: 'url', rule: 'address_taken', message }]);
}

/**
 * Gives a paper the host of its own address, on the operator's word. An IP
 * address or a host of the service is given to none, nor an address where
 * another paper is: such a paper is served on the shared host alone, and its
 * address stays what its links start with.
 */
export function giveOwnHost(app: AppContext, slug: string): void {
  const { store, settings, now } = app;
  const { url } = store.paper(slug) ?? {};
  if (url === undefined || paperAt(url, others(app, slug)) !== null) return;
  const parsed = new URL(url);
  if (unfitHost(parsed, settings) === null) store.hosts.add(slug, hostKey(parsed), 'given', now());
}

/**
 * Gives a paper a host, on the operator's word. Returns false when it had it.
 * Throws `conflict` when another paper is served where this one would be.
 */
export function giveHost(app: AppContext, slug: string, host: string): boolean {
  const { store, now } = app;
  return store.transact(() => {
    const paper = store.paper(slug);
    const { url } = paper ?? {};
    const other = url !== undefined && hostOfPaper({ url }) === host ? paperAt(url, others(app, slug)) : null;
    if (other !== null) {
      throw new Fault('conflict', `${other.slug} is served at ${url}, or within it; give ${slug} another url first`);
    }
    return store.hosts.add(slug, host, 'given', now());
  });
}
