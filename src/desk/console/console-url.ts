import { type HostTable, servedAt } from '../papers/host.ts';
import { type Paper, paperRoot } from '../papers/paper.ts';

/**
 * The address of a paper's console, with a trailing slash: below the paper's own address if this server answers there,
 * else on the shared host, where private papers always are.
 */
export function consoleUrl(paper: Paper, { origin, hosts }: { origin: string; hosts: Pick<HostTable, 'of'> }): string {
  const { slug, paper_public } = paper;
  const isOwn = paper_public && servedAt([paper], { all: () => hosts.of(slug) }).length > 0;
  return `${isOwn ? paperRoot(paper, origin) : `${origin}/${slug}`}/console/`;
}
