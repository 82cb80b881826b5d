import ipaddr from 'ipaddr.js';
import { CLI } from '../../shared/command-line.ts';
import { Fault, refusalOf } from '../../shared/fault.ts';
import type { Problem } from '../../shared/shape.ts';
import type { Paper } from './paper.ts';

/** How a paper's host was verified: by the operator (`given`), or by a proof on the host or in its DNS. */
export type HostProof = 'given' | 'file' | 'txt';

/** A host that may serve a paper. */
export interface PaperHost {
  paper: string;
  /** Normalized by `hostKey`. */
  host: string;
  how: HostProof;
  /** Since when, in ms. */
  at: number;
}

/** The addresses of the service itself. No paper can have one of their hosts. */
export interface OwnAddresses {
  origin: string;
  dataOrigin: string;
}

/** A paper and its published address. */
interface Published {
  slug: string;
  url?: string | undefined;
}

/**
 * A host in the form used for comparison and storage: A-labels in lower case, without the trailing dot, with its port
 * unless that is 80 or 443. A name is the same host over http and https.
 */
export function hostKey({ hostname, port }: URL): string {
  const name = hostname.replace(/\.$/, '');
  return port === '' || port === '80' || port === '443' ? name : `${name}:${port}`;
}

/** The host of a paper's address; null without an address. */
export function hostOfPaper({ url }: { url?: string | undefined }): string | null {
  const parsed = url === undefined ? null : URL.parse(url);
  return parsed === null ? null : hostKey(parsed);
}

/** An address in the form used for storage: parsed, the host as lower-case A-labels, without redundant parts. */
export function normalUrl(text: string): string {
  const url = new URL(text);
  // A name that ends in two dots keeps both: it is invalid and will be rejected.
  url.hostname = url.hostname.replace(/(?<!\.)\.$/, '');
  return url.href.replace(/\/+$/, '');
}

/** Parses a host as typed, such as `News.example` or `news.example:8443`. Throws `invalid_request`. */
export function parseHost(text: string, own: OwnAddresses): string {
  const url = /[/?#@\\\s]/.test(text) ? null : URL.parse(`http://${text}`);
  // An empty name, which no resolver accepts, is also invalid.
  if (url === null || url.hostname.replace(/\.$/, '') === '') {
    throw new Fault('invalid_request', `${JSON.stringify(text)} is not a host; name one such as news.example`);
  }
  const problem = hostProblem(url, own);
  if (problem !== null) throw new Fault('invalid_request', `${text} ${problem}`);
  return hostKey(url);
}

/** Hostname labels (RFC 1123, section 2.1), plus the underscore, which some names contain. */
const NAME = /^[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?(?:\.[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?)*$/;

/** Why an address's host cannot serve a paper, with the remedy; null when it can. */
export function hostProblem(url: URL, { origin, dataOrigin }: OwnAddresses): string | null {
  const name = nameOf(url);
  // The parser has normalized every spelling of an IPv4 address.
  if (ipaddr.isValid(name.replace(/^\[|\]$/g, '')))
    return 'is an IP address; papers are served under names: give a domain of its own';
  // The parser also accepts characters that hostnames cannot contain, such as quotation marks, and commands and pages
  // show this text.
  if (!NAME.test(name)) return 'has no valid hostname; use letters, digits, hyphens and dots';
  const isOwn = name === 'localhost' || [origin, dataOrigin].some((address) => nameOf(new URL(address)) === name);
  return isOwn ? 'is on a host of this service, where papers have their paths; give a domain of its own' : null;
}

/** A paper whose address equals this one, contains it or lies within it; null if there is none. */
function paperAt<P extends Published>(url: string, others: readonly P[]): P | null {
  const asked = new URL(url);
  const found = others.find((other) => {
    if (other.url === undefined) return false;
    const theirs = new URL(other.url);
    const [a, b] = [`${theirs.pathname.replace(/\/$/, '')}/`, `${asked.pathname.replace(/\/$/, '')}/`];
    return hostKey(theirs) === hostKey(asked) && (a.startsWith(b) || b.startsWith(a));
  });
  return found ?? null;
}

/** The text that a host or its DNS publishes to prove that it belongs to a paper: its address on the shared host. */
export function proofOf(slug: string, { origin }: OwnAddresses): string {
  return `${origin}/${slug}`;
}

/** Path of the proof file on a host. Each line may name a paper. */
export const PROOF_PATH = '/.well-known/broadsheet-papers';
/** Prefix of the hostname for the TXT record, whose text is `paper=` and the paper's address. */
export const PROOF_LABEL = '_broadsheet';

/** The context in which `urlProblems` checks an address. */
interface UrlContext {
  own: OwnAddresses;
  /** Whether the paper owns the host, or has just proved it. */
  ownsHost: boolean;
  /** The other papers with their own addresses. */
  others: readonly Published[];
}

/**
 * The problems of an address that a paper's admin requests. A taken host and a free one give the same result, which
 * must not reveal the names of private papers.
 */
export function urlProblems(slug: string, url: string, { own, ownsHost, others }: UrlContext): Problem[] {
  // Every paper owns its path on the shared host.
  if (url === `${own.origin}/${slug}`) return [];
  const asked = new URL(url);
  const problem = hostProblem(asked, own);
  if (problem !== null) return [{ field: 'url', rule: 'host_unfit', message: `${url} ${problem}` }];
  if (ownsHost && paperAt(url, others) === null) return [];
  const proof = proofOf(slug, own);
  const message = [
    `${url} has not been proved to belong to this paper alone;`,
    `have the operator give it the host (\`${CLI} paper host ${slug} ${hostKey(asked)}\`),`,
    `or put the line ${proof} into ${asked.origin}${PROOF_PATH},`,
    `or the text "paper=${proof}" into a TXT record of ${PROOF_LABEL}.${nameOf(asked)}, and send this again`,
  ].join(' ');
  return [{ field: 'url', rule: 'host_unproven', message }];
}

/** The table of hosts. */
export interface HostTable {
  all(): PaperHost[];
  of(paper: string): PaperHost[];
  holds(paper: string, host: string): boolean;
  /** Returns false when the paper already had it. */
  add(paper: string, host: string, how: HostProof, at: number): boolean;
  /** Returns false when the paper did not have it. */
  remove(paper: string, host: string): boolean;
}

/** The papers that are served at their own addresses, because they own the hosts. */
export function servedAt<P extends Published>(papers: readonly P[], hosts: Pick<HostTable, 'all'>): P[] {
  const held = new Set(hosts.all().map(({ paper, host }) => `${paper} ${host}`));
  return papers.filter((paper) => held.has(`${paper.slug} ${hostOfPaper(paper)}`));
}

/** An address's hostname without the trailing dot. */
export const nameOf = ({ hostname }: URL): string => hostname.replace(/\.$/, '');

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

/** Gives a paper a host. Returns false when it already had it. Throws `conflict` when another paper is served there. */
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
