import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { LedgerEntry } from '../../../src/desk/ledger-entry.ts';
import type { Proof } from '../../../src/proof/proof.ts';
import { treeOf } from '../../support/app-context.ts';
import { deadLinks } from './links.ts';
import { untilPressed } from './presses.ts';
import { PAPER, type World } from './world.ts';

const ACTOR = 'settle';
/** For how long a server that was killed holds its leases, in ms. */
const LEASE_TIME = 10_000;

/**
 * A quiet point: nobody writes, what was owed is pressed, and all that the
 * desk has is held against a full press, its ledger, and what was answered.
 */
export async function settle(world: World): Promise<void> {
  const { journal } = world;
  await passed(world);
  await world.stopServing();
  const random = world.random(`settle ${journal.steps}`);
  await untilPressed(world, ACTOR);
  await untilLogged(world);
  const again = await world.command(ACTOR, ['press']);
  journal.looked(ACTOR, 'settled', 'a second press finds nothing left', [
    ...(again?.stdout.startsWith('nothing left to press') ? [] : [`it says ${again?.stdout}${again?.stderr}`]),
  ]);
  world.lookAtAll(ACTOR, 'at a quiet point what was written', Date.now(), Number.POSITIVE_INFINITY);
  logged(world);
  await sameAsFullPress(world);
  if (random.chance(0.3)) await mended(world);
  await audited(world);
  await inLedger(world);
  if (random.chance(0.3)) await travelled(world);
  leadsSomewhere(world);
}

/** Waits until every time that a piece was scheduled for has passed. */
async function passed({ pieces }: World): Promise<void> {
  const last = Math.max(0, ...Array.from(pieces, ({ scheduled_at }) => scheduled_at ?? 0));
  await sleep(Math.max(0, last - Date.now() + 50));
}

/** Presses until the proofs have their log: a server that was killed holds the lease of its log until it runs out. */
async function untilLogged(world: World): Promise<void> {
  const end = Date.now() + 2 * LEASE_TIME;
  while (unlogged(world).length > 0 && Date.now() < end) {
    await sleep(500);
    await world.command(ACTOR, ['press']);
  }
}

/** Every proof of the tree says that its receipt is in the log, for the last press signed a head over all leaves. */
function logged(world: World): void {
  const faults = unlogged(world).map((path) => `${path} has no proof of the log`);
  world.journal.looked(ACTOR, 'logged', 'every receipt is in the log', faults);
}

function unlogged({ folder }: World): string[] {
  return [...treeOf(join(folder, 'papers', PAPER))]
    .filter(([path, text]) => path.endsWith('/proof.json') && (JSON.parse(text) as Proof).log === null)
    .map(([path]) => path);
}

/** The tree is that of a full press of the same ledger into a new folder, byte for byte. */
async function sameAsFullPress(world: World): Promise<void> {
  const other = join(world.folder, 'full');
  rmSync(other, { recursive: true, force: true });
  cpSync(join(world.folder, 'var'), join(other, 'var'), { recursive: true });
  await world.command(ACTOR, ['press', '--full'], elsewhere(other));
  compare(world, 'tree', 'the tree is that of a full press', other);
}

/** A ledger that was taken out and brought in elsewhere gives the same tree. */
async function travelled(world: World): Promise<void> {
  const other = join(world.folder, 'travelled');
  rmSync(other, { recursive: true, force: true });
  await world.command(ACTOR, ['ledger', 'import', exportOf(world)], elsewhere(other));
  compare(world, 'travelled', 'the tree is that of its ledger elsewhere', other);
}

function elsewhere(folder: string) {
  return { DATA_DIR: join(folder, 'var'), DIST_DIR: join(folder, 'papers'), LOG_DIR: join(folder, 'log') };
}

/** Holds the tree against one that was pressed elsewhere. */
function compare(world: World, kind: string, promise: string, other: string): void {
  const [ours, full] = [join(world.folder, 'papers', PAPER), join(other, 'papers', PAPER)].map(treeOf);
  const faults: string[] = [];
  for (const [path, bytes] of full ?? []) {
    const found = ours?.get(path);
    if (found === undefined) faults.push(`${path} is missing`);
    else if (found !== bytes) faults.push(`${path} differs`);
  }
  for (const path of ours?.keys() ?? []) if (!full?.has(path)) faults.push(`${path} is left over`);
  if ((full?.size ?? 0) === 0) faults.push('nothing was pressed there');
  if (faults.length > 0 && existsSync(join(world.folder, 'papers', PAPER)))
    cpSync(join(world.folder, 'papers', PAPER), join(world.folder, 'settled'), { recursive: true });
  const more = faults.length > 8 ? [`${faults.length} in all`] : [];
  world.journal.looked(ACTOR, kind, promise, [...more, ...faults]);
  if (faults.length === 0) rmSync(other, { recursive: true, force: true });
}

/** Files that somebody removed, altered or added while nobody pressed: a full press mends them. */
async function mended(world: World): Promise<void> {
  const random = world.random(`damage ${world.journal.steps}`);
  const folder = join(world.folder, 'papers', PAPER);
  const before = treeOf(folder);
  for (const path of random.shuffled([...before.keys()]).slice(0, random.int(1, 12))) {
    const file = join(folder, path);
    if (random.chance(0.5)) rmSync(file);
    else writeFileSync(file, random.chance(0.5) ? '' : 'altered');
  }
  const stray = join(folder, 'stories/stray/index.html');
  mkdirSync(dirname(stray), { recursive: true });
  writeFileSync(stray, 'nobody printed this');
  const audit = await world.command(ACTOR, ['audit']);
  const isFound = audit?.code === 1 && audit.stdout.includes('stories/stray/index.html');
  world.journal.looked(
    ACTOR,
    'damage',
    'the audit finds what was damaged',
    isFound ? [] : [`it says ${audit?.stdout}`],
  );
  await world.command(ACTOR, ['press', '--full']);
  const after = treeOf(folder);
  const faults = [...new Set([...before.keys(), ...after.keys()])].filter(
    (path) => before.get(path) !== after.get(path),
  );
  world.journal.looked(ACTOR, 'mended', 'a full press mends what was damaged', faults);
}

async function audited(world: World): Promise<void> {
  const audit = await world.command(ACTOR, ['audit']);
  const isSound = audit?.code === 0 && / 0 faults$/m.test(audit.stdout);
  world.journal.looked(
    ACTOR,
    'audit',
    'the audit finds no fault',
    isSound ? [] : [`it says ${audit?.stdout.slice(0, 1_000)}`],
  );
  const proofs = await world.command(ACTOR, ['verify', join(world.folder, 'papers', PAPER)]);
  const holds = proofs?.code === 0 ? [] : [`it says ${proofs?.stdout.slice(-500)}${proofs?.stderr}`];
  world.journal.looked(ACTOR, 'verify', 'every proof of the tree holds', holds);
}

function exportOf({ folder }: World): string {
  return join(folder, 'ledger.jsonl');
}

/** What was answered is in the ledger, and its numbers have no gap. */
async function inLedger(world: World): Promise<void> {
  const file = exportOf(world);
  await world.command(ACTOR, ['ledger', 'export', file]);
  const entries = readFileSync(file, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as LedgerEntry);
  const filed = new Map<number, string>();
  const faults: string[] = [];
  for (const entry of entries) {
    if (entry.type !== 'generation') continue;
    if (entry.seq !== filed.size + 1) faults.push(`seq ${entry.seq} follows ${filed.size}`);
    filed.set(entry.seq, `${entry.piece.id} ${entry.piece.revision}`);
  }
  for (const [seq, what] of world.answered)
    if (filed.get(seq) !== what) faults.push(`seq ${seq} was answered to be ${what} and is ${filed.get(seq)}`);
  world.journal.looked(ACTOR, 'ledger', 'what was answered is in the ledger, in order', faults);
}

/** Links of the front page and its document lead to files that are there. */
function leadsSomewhere({ disk, root, journal }: World): void {
  const dead = ['index.html', 'front.json', 'feed.json'].flatMap((path) => deadLinks(disk, root, path));
  journal.looked(ACTOR, 'links', 'what the front page links to is there', [...new Set(dead)]);
}
