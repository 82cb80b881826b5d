import { cpSync, mkdirSync, readFileSync } from 'node:fs';
import { delimiter, dirname, join, resolve } from 'node:path';
import { airStory } from '../../src/desk/airing.ts';
import { append } from '../../src/desk/append.ts';
import { fileStory } from '../../src/desk/file-story.ts';
import { PaperBody } from '../../src/desk/papers/paper.ts';
import { type AppContext, deskOf, openAppContext } from '../../src/server/context.ts';
import { readSettings } from '../../src/server/env.ts';
import { PROJECT } from '../../src/shared/project.ts';
import { type Ran, run } from './child.ts';
import { LANGUAGE, PERSONAS, piecesOf, SECTIONS, type Texts } from './pieces.ts';
import { note, seconds } from './table.ts';

export const PAPER = 'bench-ledger';
export const NAMEPLATE = 'The Bench Ledger';
/** How many pieces are filed in one transaction. */
const BATCH = 200;

/** Where everything of one run of the benchmark lies, and what its parts share. */
export interface Bench {
  folder: string;
  texts: Texts;
  /** When the run began: the newest piece of every paper is from then. */
  began: number;
  /** Sizes of the papers to publish into. */
  sizes: number[];
  /** Makes a folder in another, removed when the run ends. */
  makeFolder(parent: string): string;
}

/** The folders of one paper, as the environment names them. */
export function environmentOf(folder: string): NodeJS.ProcessEnv {
  return {
    DATA_DIR: join(folder, 'var'),
    CONTENT_DIR: join(folder, 'content'),
    DIST_DIR: join(folder, 'papers'),
    LOG_DIR: join(folder, 'log'),
    ORIGIN: 'https://news.example',
    ASTRO_TELEMETRY_DISABLED: '1',
  };
}

export function openPaper(folder: string): AppContext {
  return openAppContext(readSettings(environmentOf(folder)));
}

const filed = new Map<number, string>();

/** A filed paper of so many pieces, nothing pressed, in a new folder of the bench's or at a path. Each size is filed once a run, then copied. */
export function filedPaper(bench: Bench, size: number, name: string): string {
  const kept = filed.get(size) ?? filePaper(bench, size);
  filed.set(size, kept);
  const folder = resolve(bench.folder, name);
  mkdirSync(folder);
  cpSync(join(kept, 'var'), join(folder, 'var'), { recursive: true });
  return folder;
}

function filePaper({ folder: parent, texts, began }: Bench, size: number): string {
  const folder = join(parent, `filed-${size}`);
  mkdirSync(folder);
  const start = performance.now();
  const app = openPaper(folder);
  const { store } = app;
  const desk = deskOf(app);
  app.signer.open();
  store.database.transact(() => {
    append(store.desk, {
      type: 'record',
      at: began,
      paper: PAPER,
      kind: 'paper',
      name: '',
      body: paperBody(NAMEPLATE),
    });
    for (const slug of PERSONAS) {
      const persona = { slug, name: slug, title: 'Reporter', beat: 'Everything', bio: '', avatar: null, active: true };
      append(store.desk, { type: 'record', at: began, paper: PAPER, kind: 'persona', name: slug, body: persona });
    }
  });
  let batch: (() => void)[] = [];
  const flush = () => {
    store.database.transact(() => {
      for (const file of batch) file();
    });
    batch = [];
  };
  for (const { filing, at } of piecesOf(texts, size, began)) {
    batch.push(() => {
      fileStory(desk, PAPER, filing, { by: 'cli' });
      airStory(desk, PAPER, filing.slug, { by: 'cli', at });
    });
    if (batch.length === BATCH) flush();
  }
  flush();
  // As an import does after many filings.
  store.desk.optimizeSearch();
  app.close();
  note(`filed ${size} pieces in ${seconds(performance.now() - start)}`);
  return folder;
}

function paperBody(nameplate: string): PaperBody {
  const description = 'A paper of the benchmark.';
  return PaperBody.parse({ nameplate, motto: 'Counted twice', description, language: LANGUAGE, sections: SECTIONS });
}

/** Gives a paper another name, which every page prints. */
export function renamePaper(folder: string, nameplate: string): void {
  const app = openPaper(folder);
  const { store } = app;
  store.database.transact(() => {
    append(store.desk, {
      type: 'record',
      at: app.clock.now(),
      paper: PAPER,
      kind: 'paper',
      name: '',
      body: paperBody(nameplate),
    });
  });
  app.close();
}

/** A full press of a paper by the command, as `npm run broadsheet` starts it, cards apart, in a process of its own. */
export function fullPress(folder: string): Promise<Ran> {
  const { scripts } = JSON.parse(readFileSync(join(PROJECT, 'package.json'), 'utf8'));
  return run('sh', ['-c', `${scripts.broadsheet} press --full --no-cards`], {
    cwd: PROJECT,
    env: { ...environmentOf(folder), PATH: [dirname(process.execPath), process.env.PATH].join(delimiter) },
  });
}

const pressed = new Map<number, { folder: string; pressed: Ran }>();

/** A paper of so many pieces with its tree on disk, and what its press took. Made once a run. */
export async function pressedPaper(bench: Bench, size: number): Promise<{ folder: string; pressed: Ran }> {
  let made = pressed.get(size);
  if (made === undefined) {
    const folder = filedPaper(bench, size, `pressed-${size}`);
    made = { folder, pressed: await fullPress(folder) };
    note(
      `pressed ${size} pieces in ${seconds(made.pressed.wall)}, ${Math.round((made.pressed.peak ?? 0) / 1e6)} MB at its peak`,
    );
    pressed.set(size, made);
  }
  return made;
}
