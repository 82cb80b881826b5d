import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { join } from 'node:path';
import { Command } from 'commander';
import type { Entry, GenerationEntry, KeyEntry } from '../desk/entry.ts';
import { auditor } from '../ledger/audit.ts';
import type { DoorKey } from '../ledger/keyring.ts';
import { keyFaults } from '../ledger/keyring.ts';
import { filesIn } from '../press/tree.ts';
import type { Workshop } from '../works/workshop.ts';
import { auditRecords } from './audit-records.ts';
import { progressTo } from './progress.ts';
import { say, withWorkshop } from './run.ts';

export interface Audit {
  generations: number;
  observations: number;
  files: number;
  /** What does not hold; empty when everything does. */
  faults: string[];
}

export function command(): Command {
  return new Command('audit')
    .description('rebuild every hash, root, receipt, chain and sequence, and every digest of the pressed tree')
    .option('--json', 'print the outcome as JSON')
    .action((options: { json?: boolean }) =>
      withWorkshop(async (shop) => {
        const audit = await auditAll(shop);
        say(options.json, audit, [
          ...audit.faults,
          `${audit.generations} generations${audit.observations > 0 ? `, ${audit.observations} observations` : ''} and ${audit.files} files audited, ${audit.faults.length} faults`,
        ]);
        if (audit.faults.length > 0) process.exitCode = 1;
      }),
    );
}

/** Audits the database and the pressed trees. */
export async function auditAll(shop: Workshop): Promise<Audit> {
  const faults = shop.store.integrity().map((fault) => `database: ${fault}`);
  const generations = auditLedger(shop, faults);
  const observations = auditRecords(shop, faults);
  faults.push(...shop.store.credits.faults());
  const files = await auditTrees(shop, faults);
  return { generations, observations, files, faults };
}

/** Feeds an auditor from ledger entries. */
export function generationAudit(
  keys: DoorKey[],
  options: { clock?: boolean } = {},
): { next(entry: Entry): string[]; revisions(): Map<string, number> } {
  const audit = auditor(keys, options);
  return {
    next(entry) {
      if (entry.type === 'key') return keyFaults(doorKeyOf(entry));
      return entry.type === 'generation' ? audit.next(audited(entry)) : [];
    },
    revisions: audit.revisions,
  };
}

/** A key as its entry lists it, before any retirement. */
export function doorKeyOf({ kid, name, public_key, at }: KeyEntry): DoorKey {
  return { kid, name, publicKey: new Uint8Array(Buffer.from(public_key, 'base64')), nbf: at, retired_at: null };
}

function audited(entry: GenerationEntry) {
  const { paper, piece, seq, content_hash, receipt, receipt_hash, kid } = entry;
  const filed_at = new Date(entry.at).toISOString();
  return { paper, piece, revision: piece.revision, seq, content_hash, receipt, receipt_hash, filed_at, kid };
}

function auditLedger({ store }: Workshop, faults: string[]): number {
  const audit = generationAudit(store.doorKeys());
  const progress = progressTo();
  let count = 0;
  for (const entry of store.entries()) {
    faults.push(...audit.next(entry));
    if (entry.type === 'generation') progress.step('audit', ++count, count, entry.piece.slug);
  }
  progress.end();
  // What readers are shown must be the newest of what was filed.
  const revisions = audit.revisions();
  for (const { id, revision } of store.shown()) {
    const newest = revisions.get(id);
    if (newest !== revision)
      faults.push(`piece ${id} shows revision ${revision}, but ${newest ?? 'none'} is the newest`);
  }
  return count;
}

async function auditTrees({ store, settings, media }: Workshop, faults: string[]): Promise<number> {
  let count = 0;
  for (const paper of store.paperSlugs()) {
    if (store.manifest.due(paper).length > 0) faults.push(`${paper}: the press owes files; run \`broadsheet press\``);
    const printed = new Set<string>();
    for (const { path, digest } of store.manifest.everyFile(paper)) {
      count++;
      printed.add(path);
      const found = await digestOf(join(settings.distDir, paper, path));
      if (found === null) faults.push(`${paper}/${path}: the file is missing; run \`broadsheet press --full\``);
      else if (found !== digest) faults.push(`${paper}/${path}: the file was altered; run \`broadsheet press --full\``);
    }
    for (const path of filesIn(join(settings.distDir, paper))) {
      if (!printed.has(path))
        faults.push(`${paper}/${path}: nothing printed this file; run \`broadsheet press --full\``);
    }
    for (const { path, digest } of store.allMedia(paper)) {
      const found = await digestOf(media.pathOf(digest));
      if (found !== digest)
        faults.push(
          `${paper}/${path}: its bytes in DATA_DIR are ${found === null ? 'missing' : 'damaged'}; file it again`,
        );
    }
  }
  return count;
}

async function digestOf(file: string): Promise<string | null> {
  const hash = createHash('sha256');
  try {
    for await (const chunk of createReadStream(file)) hash.update(chunk as Uint8Array);
  } catch {
    return null;
  }
  return `sha256:${hash.digest('hex')}`;
}
