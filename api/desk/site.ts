import type { IncomingMessage } from 'node:http';
import type { HttpBindings } from '@hono/node-server';
import { hostKey, nameOf, servedAt } from '../../src/desk/papers/host.ts';
import { isPaperSlug, type Paper, paperRoot } from '../../src/desk/papers/paper.ts';
import type { AppContext } from '../../src/server/context.ts';
import type { Site } from '../env.ts';
import { paperOfKey } from '../middleware/key.ts';

/** The address of a paper with its own domain. */
interface Domain {
  /** In the form of `hostKey`. */
  host: string;
  /** The same without the port. */
  hostname: string;
  /** The path prefix of the paper's URLs; empty at the root. */
  base: string;
  paper: Known;
}

/** A paper, or a removed one, whose addresses say that it was removed. */
type Known = Paper & { removed_at?: number };

/** Where a request keeps its site: on Node's request, since the body limit replaces Hono's. */
const SITE = Symbol('site');
type Located = IncomingMessage & { [SITE]?: Site | null };

/** A path without a route: on a paper's own domain there is nothing but the paper. */
const NOWHERE = '/.nowhere';

/**
 * Metadata of OAuth is at a host’s root, and names the path of what it describes after its own (RFC 8414, section 3.1;
 * RFC 9728, section 3.1). Its routes are below a paper’s root, as all others are.
 */
const INSERTED = /^(\/\.well-known\/oauth-(?:authorization-server|protected-resource))(\/.*)?$/;

export type Sites = ReturnType<typeof sitesOf>;

/** Finds the paper of each request, by its host, then by its first segment. */
export function sitesOf(app: AppContext) {
  const { desk } = app.store;
  const shared = new URL(app.settings.origin);
  let isFresh = false;
  let version = -1;
  const papers = new Map<string, Known>();
  /** The papers that are served at addresses of their own, by slug and by hostname. */
  const served = new Map<string, Domain>();
  let domains = new Map<string, Domain[]>();

  /** Stores the current state of a paper. */
  const keep = (paper: Known): void => {
    const { slug } = paper;
    served.delete(slug);
    // A private paper looked like one that does not exist, and still does after its removal.
    if (isRemoved(paper) && !paper.paper_public) {
      papers.delete(slug);
      return;
    }
    papers.set(slug, paper);
    // Papers that are not served here keep their address in links: another server may answer there.
    if (servedAt([paper], { all: () => desk.hosts.of(slug) }).length === 0) return;
    const url = new URL(paper.url ?? '');
    const base = url.pathname.replace(/\/$/, '');
    served.set(slug, { host: hostKey(url), hostname: nameOf(url), base, paper });
  };

  /** Reads again the papers that changed, in this process or another. */
  const refresh = (): void => {
    if (isFresh) return;
    isFresh = true;
    // Concurrent requests share one check.
    setImmediate(() => {
      isFresh = false;
    });
    const newest = desk.papersVersion();
    if (newest === version) return;
    for (const paper of desk.changedPapers(version)) keep(paper);
    domains = Map.groupBy([...served.values()].sort(byPrecedence), ({ hostname }) => hostname);
    version = newest;
  };

  /** The domains that a request's host may mean. Proxies change ports: a hostname with one address is enough. */
  const domainsAt = (request: Request, asked: URL): Domain[] => {
    const name = nameOf(asked);
    // Outsiders cannot distinguish a private paper's domain from one that points here by mistake.
    const held = paperOfKey(desk.keys, (header) => request.headers.get(header), app.clock.now());
    const named = (domains.get(name) ?? []).filter(({ paper }) => paper.paper_public || held === paper.slug);
    const exact = named.filter(({ host }) => host === hostKey(asked));
    if (exact.length > 0 || name === shared.hostname) return exact;
    return new Set(named.map((domain) => domain.host)).size === 1 ? named : [];
  };

  const byPath = (path: string): Site => {
    const slash = path.indexOf('/', 1);
    const slug = slash === -1 ? path.slice(1) : path.slice(1, slash);
    const paper = papers.get(slug) ?? null;
    const { origin } = app.settings;
    const root = paper === null ? '' : paperRoot(paper, origin);
    return { slug, ...known(paper), root, served: `${origin}/${slug}`, path: slash === -1 ? '' : path.slice(slash) };
  };

  const find = (request: Request, asked: URL, path: string): Site | null => {
    let isOwnHost = false;
    for (const { host, base, paper } of domainsAt(request, asked)) {
      isOwnHost = host !== hostKey(shared);
      if (path === base || path.startsWith(`${base}/`)) {
        const root = paper.url ?? '';
        return { slug: paper.slug, ...known(paper), root, served: root, path: path.slice(base.length) };
      }
    }
    return isOwnHost ? null : byPath(path);
  };

  /** The path that the router matches. */
  const routingPath = (request: Request, routed?: { env?: HttpBindings | undefined }): string => {
    refresh();
    const url = request.url;
    const start = url.indexOf('/', url.indexOf('://') + 3);
    const end = url.slice(start).search(/[?#]/);
    const path = end === -1 ? url.slice(start) : url.slice(start, start + end);
    const [, inserted = '', rest = ''] = INSERTED.exec(path) ?? [];
    const below = inserted === '' ? path : rest;
    const found = domains.size === 0 ? byPath(below) : find(request, new URL(url), below);
    const site = found === null || inserted === '' ? found : { ...found, path: inserted + found.path };
    const incoming = routed?.env?.incoming;
    if (incoming !== undefined) (incoming as Located)[SITE] = site;
    if (site === null) return NOWHERE;
    if (inserted !== '' && isPaperSlug(site.slug)) return `/${site.slug}${site.path}`;
    return site.paper === null ? path : `/${site.slug}${site.path}`;
  };

  /** The site of a request that has been routed. */
  const of = ({ incoming }: HttpBindings): Site | null => (incoming as Located)[SITE] ?? null;

  return {
    routingPath,
    of,
    /** Finds the site again in a request that had to wait: the paper may have changed or be gone. */
    again(request: Request, env: HttpBindings): Site | null {
      isFresh = false;
      routingPath(request, { env });
      return of(env);
    },
  };
}

const isRemoved = (paper: Known): boolean => paper.removed_at !== undefined;

/** Removed papers come last: another paper may have taken the address since. */
function byPrecedence({ paper: a }: Domain, { paper: b }: Domain): number {
  return Number(isRemoved(a)) - Number(isRemoved(b)) || (a.slug < b.slug ? -1 : 1);
}

function known(paper: Known | null): Pick<Site, 'paper' | 'removed'> {
  if (paper?.removed_at === undefined) return { paper };
  return { paper: null, removed: { at: paper.removed_at, language: paper.language } };
}
