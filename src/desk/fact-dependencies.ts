import type { Archive } from './archive.ts';
import { dependencies, FACTS_PAGE, SHARD_MAX } from './dependencies.ts';

/** Facts that changed, in their content or in the pieces that cite them. */
interface FactChanges {
  changed: Iterable<string>;
  /** Whether a fact, now cited by `cited` pieces on air, joined or left the record. */
  isMoved?: (claim_key: string, cited: number) => boolean;
}

/**
 * The dependencies that a change of facts makes stale: each fact's own page, the numbered page that lists it and, if it
 * joined or left the record, all newer numbered pages. The archive must already show the state after the change.
 */
export function factDependencies(archive: Archive, { changed, isMoved = () => false }: FactChanges): Set<string> {
  const stale = new Set<string>();
  const facts = [...changed].flatMap((key) => archive.fact(key) ?? []).sort((a, b) => a.id - b.id);
  const ranks = archive.factRanks(facts.map(({ id }) => id));
  const moved: number[] = [];
  for (const [index, { claim_key, cited, changed_at }] of facts.entries()) {
    const rank = ranks[index] ?? 0;
    stale
      .add(dependencies.facts)
      .add(dependencies.fact(claim_key))
      .add(dependencies.factPage(pageAt(rank)));
    if (changed_at !== null) stale.add(dependencies.corrections);
    if (isMoved(claim_key, cited)) moved.push(rank);
  }
  const first = moved[0];
  if (first === undefined) return stale;
  const count = archive.factCount();
  // The page before may gain or lose its link to a newer one.
  for (let page = Math.max(1, pageAt(first) - 1); page <= pageAt(count) + 1; page++) {
    stale.add(dependencies.factPage(page));
  }
  for (let shard = shardAt(first); shard <= shardAt(count); shard++) stale.add(dependencies.factShard(shard));
  // Every page links to the record only while it has facts.
  if (count <= moved.length) stale.add(dependencies.config);
  return stale;
}

/** The numbered page that lists the fact at a rank. Ranks count from 0. */
const pageAt = (rank: number): number => Math.floor(rank / FACTS_PAGE) + 1;
/** The sitemap that lists the fact at a rank. */
const shardAt = (rank: number): number => Math.floor(rank / SHARD_MAX) + 1;
