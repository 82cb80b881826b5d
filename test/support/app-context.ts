import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { append } from '../../src/desk/append.ts';
import type { Filing } from '../../src/desk/door/piece.ts';
import type { PaperBody } from '../../src/desk/papers/paper.ts';
import { type AppContext, openAppContext } from '../../src/server/context.ts';
import { readSettings } from '../../src/server/env.ts';
import { emptyDatabase } from './empty-database.ts';

/** The lifetime of a test, or of one run of a property. */
export interface Scope {
  after(work: () => void): void;
}

/** The scope of a whole test file, for its `before`: call it at the file's top level. */
export function fileScope(): Scope {
  const endings: Parameters<Scope['after']>[0][] = [];
  after(async () => {
    for (const end of endings.toReversed()) await end();
  });
  return { after: (end) => void endings.push(end) };
}

/** A temporary folder of the test, removed when the test ends. */
export function tempFolder(t: Scope): string {
  const folder = mkdtempSync(join(tmpdir(), 'broadsheet-'));
  t.after(() => {
    const remove = () => {
      rmSync(folder, { recursive: true, force: true });
      closeLeftOpen();
    };
    const running = users.filter((user) => `${user.folder}/`.startsWith(`${folder}/`));
    return running.length === 0 ? remove() : Promise.all(running.map(({ end }) => end())).then(remove);
  });
  return folder;
}

/** Garbage is collected when more files than this are open. Linux gives a process 1,024 or more. */
const OPEN_MAX = 400;
/** Where the number of open files is unknown, garbage is collected this often; macOS gives a process 256 files. */
const EVERY = 8;
let left = 0;

/** Makes libsql close the files of closed databases, before there are too many. */
export function closeLeftOpen(): void {
  left++;
  if (process.platform === 'linux' ? readdirSync('/proc/self/fd').length > OPEN_MAX : left % EVERY === 0)
    collectGarbage();
}

const users: { folder: string; end: () => Promise<unknown> }[] = [];

/**
 * Ends a process that writes into a temporary folder before the folder is removed. Hooks run in the order in which they
 * were registered, so the folder's would come first.
 */
export function endBeforeRemoval(folder: string, end: () => Promise<unknown>): void {
  users.push({ folder, end });
}

/**
 * Collects garbage: libsql closes the files of a closed database only when its statements are garbage-collected, and a
 * property opens hundreds of them.
 */
export function collectGarbage(): void {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
}

/** Environment variables that confine a process to a folder. */
export function envIn(folder: string, more: Record<string, string> = {}): Record<string, string> {
  return {
    DATA_DIR: join(folder, 'var'),
    CONTENT_DIR: join(folder, 'content'),
    DIST_DIR: join(folder, 'papers'),
    LOG_DIR: join(folder, 'log'),
    PORT: '0',
    RECORDS_PORT: '0',
    LOG_LEVEL: 'silent',
    // Queries no system resolver unless a test asks for it.
    SCANNER: 'off',
    // So that pages of the demo do not change during a test, and have the same dates in every run.
    DEMO_SOURCES: 'off',
    DEMO_DATES: 'off',
    ...more,
  };
}

/** A clock that stands still until the test sets it. */
export interface Clock {
  now: number;
}

/** An app context in its own folder, with a clock that the test sets. */
export function appContextIn(t: Scope, folder: string, clock: Clock, more: Record<string, string> = {}): AppContext {
  const settings = readSettings(envIn(folder, more));
  emptyDatabase(settings.dataDir);
  const app = openAppContext(settings, () => clock.now);
  t.after(() => app.close());
  return app;
}

export const PAPER = 'harbor-ledger';
export const SECTIONS = ['City', 'Port & Sea', 'Ämter'];
export const PERSONAS = ['ines-calloway', 'tomas-berg'];

/** Creates the signing key, and a small paper with two personas. */
export function createPaper(app: AppContext, body: Partial<PaperBody> = {}, slug = PAPER): void {
  const {
    store,
    clock: { now },
  } = app;
  app.signer.open();
  const paper: PaperBody = {
    nameplate: 'The Harbor Ledger',
    motto: 'All that floats',
    description: 'A paper for tests.',
    language: 'en',
    hue: 210,
    sections: SECTIONS,
    default_kind: 'news',
    paper_public: true,
    source_floor: 2,
    standards: '',
    ...body,
  };
  store.database.transact(() => {
    append(store.desk, { type: 'record', at: now(), paper: slug, kind: 'paper', name: '', body: paper });
    for (const who of PERSONAS) {
      const name = who.replace('-', ' ');
      const persona = { slug: who, name, title: 'Editor', beat: 'Everything', bio: '', avatar: null, active: true };
      append(store.desk, { type: 'record', at: now(), paper: slug, kind: 'persona', name: who, body: persona });
    }
  });
}

/** A piece that the door accepts. */
export function filing(slug: string, more: Partial<Filing> = {}): Filing {
  return {
    slug,
    headline: `What ${slug} means`,
    dek: 'A dek of one sentence.',
    prose: 'One thing is so.[^1]\n\n## And more\n\nAnother is so as well.[^2]',
    cited_facts: [
      {
        n: 1,
        statement: 'One thing is so.',
        source: 'RFC Editor',
        instrument: 'https://www.rfc-editor.org/rfc/rfc2119',
        claim_key: null,
      },
      { n: 2, statement: 'Another is so.', source: 'NIST', instrument: 'FIPS 180-4', claim_key: null },
    ],
    category: SECTIONS[0] ?? '',
    kind: 'news',
    persona: PERSONAS[0] ?? '',
    language: 'en',
    image: null,
    credit: null,
    authors: [],
    written_by: null,
    provenance: null,
    aliases: [],
    tags: [],
    correction: null,
    revised_at: null,
    ...more,
  };
}

/** Every file under a folder: its path, and its bytes as a Latin-1 string. */
export function treeOf(folder: string): Map<string, string> {
  const files = new Map<string, string>();
  if (!existsSync(folder)) return files;
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    files.set(path.slice(folder.length + 1), readFileSync(path, 'latin1'));
  }
  return files;
}
