import type { Archive } from './archive.ts';
import { dependencies, FACTS_PAGE, SHARD_MAX } from './dependencies.ts';

/** What readers see of a paper's fact record: how many facts pieces on air cite. */
export interface FactChanges {
  /** Facts of which something changed: what they say, or the pieces that cite them. */
  changed: Iterable<string>;
  /** Those of them that joined the record, because a piece on air cites them, or left it. */
  moved?: Iterable<string>;
}

/**
 * The dependencies that a change of facts makes stale: each fact's own page, the numbered page that lists it and, where it
 * joined or left the record, all newer ones. The archive must already show the state after the change.
 */
export function factDependencies(archive: Archive, { changed, moved = [] }: FactChanges): Set<string> {
  const stale = new Set<string>();
  const rankOf = (key: string): number | null => {
    const found = archive.fact(key);
    return found === null ? null : archive.factRank(found.id);
  };
  const lists = new Set<string>();
  for (const key of changed) {
    stale.add(dependencies.facts).add(dependencies.fact(key));
    const found = archive.fact(key);
    if (found === null) continue;
    if (found.changed_at !== null) stale.add(dependencies.corrections);
    if (found.cited > 0) lists.add(dependencies.factPage(pageAt(archive.factRank(found.id))));
  }
  const ranks = [...moved].flatMap((key) => rankOf(key) ?? []);
  if (ranks.length > 0) {
    const first = Math.min(...ranks);
    const count = archive.factCount();
    // The page before may gain or lose its link to a newer one.
    for (let page = Math.max(1, pageAt(first) - 1); page <= pageAt(count) + 1; page++) {
      lists.add(dependencies.factPage(page));
    }
    for (let shard = shardAt(first); shard <= shardAt(count); shard++) stale.add(dependencies.factShard(shard));
    // Every page links to the record, as soon as there is one.
    if (count <= ranks.length) stale.add(dependencies.config);
  }
  for (const list of lists) stale.add(list);
  return stale;
}

/** The numbered page of a rank, which counts from 0. */
const pageAt = (rank: number): number => Math.floor(rank / FACTS_PAGE) + 1;
/** The sitemap of a rank. */
const shardAt = (rank: number): number => Math.floor(rank / SHARD_MAX) + 1;
