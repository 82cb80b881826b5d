import assert from 'node:assert/strict';
import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import Database from 'libsql';
import { airStory } from '../../src/desk/airing.ts';
import type { Filing } from '../../src/desk/door/piece.ts';
import { type Desk, fileStory } from '../../src/desk/file-story.ts';
import { importArchive } from '../../src/desk/ingest/import-archive.ts';
import { type AppContext, deskOf, intakeOf } from '../../src/server/context.ts';
import {
  appContextIn,
  createPaper,
  filing,
  PAPER,
  PERSONAS,
  type Scope,
  SECTIONS,
  tempFolder,
} from '../support/app-context.ts';
import { ONLY_WIDE } from '../support/wide.ts';

const NOON = Date.parse('2026-11-20T12:00:00Z');
const DAY = 86_400_000;

/** What every row says that does not depend on how many transactions there were. */
const READ = [
  'SELECT * FROM entries ORDER BY n',
  'SELECT * FROM generations ORDER BY n',
  'SELECT * FROM airings ORDER BY n',
  'SELECT log, leaf_index, hex(hash), entry FROM log_leaves ORDER BY log, leaf_index',
  'SELECT * FROM pieces ORDER BY id',
  'SELECT * FROM tallies ORDER BY paper, what, name',
  'SELECT * FROM piece_tags ORDER BY paper, tag, published_at, piece',
  'SELECT * FROM tag_counts ORDER BY paper, tag',
  'SELECT slug, body, edition, changed_at, seq, removed_at FROM papers ORDER BY slug',
  'SELECT paper, tag FROM press_due ORDER BY id',
  'SELECT paper, type, piece, revision, at, told FROM events ORDER BY n',
  'SELECT place, piece, generation, tangled FROM searched ORDER BY place',
  'SELECT id, hex(sz) FROM search_docsize ORDER BY id',
];

interface Side {
  app: AppContext;
  desk: Desk;
  folder: string;
}

/** Two desks with one key, whose clocks stand still and whose ids are counted. */
function twoDesks(t: Scope): [Side, Side] {
  const folders = [tempFolder(t), tempFolder(t)] as const;
  const open = (folder: string): Side => {
    const app = appContextIn(t, folder, { now: NOON });
    let ids = 0;
    const newId = () => `01kaf${String(ids++).padStart(21, '0')}`;
    const { store, now } = deskOf(app);
    const desk: Desk = {
      store,
      now,
      newId,
      get signingKey() {
        return deskOf(app).signingKey;
      },
    };
    return { folder, app, desk };
  };
  const first = open(folders[0]);
  createPaper(first.app);
  mkdirSync(join(folders[1], 'var'));
  cpSync(join(folders[0], 'var/door.key'), join(folders[1], 'var/door.key'));
  const second = open(folders[1]);
  createPaper(second.app);
  return [first, second];
}

function rowsOf({ app, folder }: Side): Record<string, unknown> {
  assert.deepEqual(app.store.desk.ledgerFaults(), []);
  assert.deepEqual(
    app.store.desk.indexFaults(() => {}),
    [],
  );
  const db = new Database(join(folder, 'var/broadsheet.db'), { readonly: true });
  try {
    return Object.fromEntries(READ.map((query) => [query, db.prepare(query).raw().all()]));
  } finally {
    db.close();
  }
}

interface Line {
  filing: Filing;
  at: number;
}

/** Pieces with and without tags, some of them recent, some to come. */
function lines(count: number, more: (n: number) => Partial<Filing> = () => ({})): Line[] {
  return Array.from({ length: count }, (_, n) => ({
    filing: filing(`piece-${(n * 7) % 1_000}`, {
      headline: `Tide ${n}`,
      category: SECTIONS[n % 3] ?? '',
      tags: n % 3 === 0 ? ['Ports', `Tag ${n % 5}`] : [],
      prose: `One.[^1]\n\nTwo.[^2] ${'Ebb and flow. '.repeat(n % 50)}`.trim(),
      ...more(n),
    }),
    at: n % 40 === 7 ? NOON + DAY : NOON - ((n * 11) % 90) * 3_600_000,
  }));
}

async function importLines({ app, desk, folder }: Side, given: readonly Line[]): Promise<void> {
  const file = join(folder, 'archive.jsonl');
  const text = given.map(({ filing: { category, language, persona: _persona, ...piece }, at }) =>
    JSON.stringify({ ...piece, section: category, lang: language, published_at: new Date(at).toISOString() }),
  );
  writeFileSync(file, text.join('\n'));
  const { refused } = await importArchive({ ...intakeOf(app), desk }, file, {
    paper: PAPER,
    persona: PERSONAS[0] ?? '',
    air: true,
  });
  assert.deepEqual(refused, []);
}

function fileOneByOne({ desk }: Side, given: readonly Line[]): void {
  for (const { filing: piece, at } of given) {
    fileStory(desk, PAPER, piece, { by: 'cli', toAir: true });
    airStory(desk, PAPER, piece.slug, { by: 'cli', at });
  }
}

test('an import leaves what the same filings leave one by one', { skip: ONLY_WIDE }, async (t) => {
  const [imported, filed] = twoDesks(t);
  const first = lines(120);
  await importLines(imported, first);
  fileOneByOne(filed, first);
  assert.deepEqual(rowsOf(imported), rowsOf(filed));
  // Revisions among new pieces, while everything is still to be pressed.
  const revised = lines(160, (n) => (n % 5 === 0 ? { headline: `Flow ${n}`, tags: ['Tag 2'] } : {}));
  await importLines(imported, revised);
  fileOneByOne(filed, revised);
  assert.deepEqual(rowsOf(imported), rowsOf(filed));
  // A full press begins: from here on, marks are those of what changed.
  for (const { app } of [imported, filed]) {
    app.store.database.transact(() => app.store.desk.manifest.begin(PAPER));
  }
  // New pieces among revisions, with other tags.
  const second = lines(180, (n) => (n % 4 === 0 ? { headline: `Ebb ${n}`, tags: ['Tag 1'] } : {}));
  await importLines(imported, second);
  fileOneByOne(filed, second);
  assert.deepEqual(rowsOf(imported), rowsOf(filed));
});
