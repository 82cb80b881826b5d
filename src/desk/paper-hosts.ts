import { Fault, refusalOf } from '../fault.ts';
import type { HostTable, OwnAddresses } from './host.ts';
import { hostKey, hostOfPaper, hostProblem, paperAt, servedAt } from './host.ts';
import type { Paper } from './paper.ts';

/** The dependencies for giving a host to a paper. */
export interface HostGrants {
  store: {
    paperSlugs(): string[];
    paper(slug: string): Paper | null;
    hosts: HostTable;
    transact<T>(work: () => T): T;
  };
  settings: OwnAddresses;
  /** The current time, in ms. */
  now(): number;
}

/** The other papers that are served at their own addresses. */
function others({ store }: HostGrants, slug: string): Paper[] {
  const papers = store.paperSlugs().flatMap((other) => (other === slug ? [] : (store.paper(other) ?? [])));
  return servedAt(papers, store.hosts);
}

/** Throws `refused_by_door` when another paper is served at the address in this paper's file. */
export function requireFreeAddress(grants: HostGrants, slug: string, url: string | undefined): void {
  const other = url === undefined ? null : paperAt(url, others(grants, slug));
  if (other === null) return;
  const message = `${url} is the address of ${other.slug}, or lies within it; give this paper its own address`;
  throw refusalOf([{ field: 'url', rule: 'address_taken', message }]);
}

/**
 * Gives a paper the host of its `url`, on the operator's authority. Skips IP addresses, hosts of the service and
 * addresses where another paper is served: such a paper is served only on the shared host, and its links still start
 * with its `url`.
 */
export function giveOwnHost(grants: HostGrants, slug: string): void {
  const { store, settings, now } = grants;
  const { url } = store.paper(slug) ?? {};
  if (url === undefined || paperAt(url, others(grants, slug)) !== null) return;
  const parsed = new URL(url);
  if (hostProblem(parsed, settings) === null) store.hosts.add(slug, hostKey(parsed), 'given', now());
}

/**
 * Gives a paper a host, on the operator's authority. Returns false when the paper already had it. Throws `conflict`
 * when another paper is served there.
 */
export function giveHost(grants: HostGrants, slug: string, host: string): boolean {
  const { store, now } = grants;
  return store.transact(() => {
    const { url } = store.paper(slug) ?? {};
    const other = url !== undefined && hostOfPaper({ url }) === host ? paperAt(url, others(grants, slug)) : null;
    if (other !== null) {
      throw new Fault('conflict', `${other.slug} is served at ${url}, or within it; give ${slug} another url first`);
    }
    return store.hosts.add(slug, host, 'given', now());
  });
}
