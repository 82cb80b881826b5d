import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { Fault } from '../fault.ts';
import type { Printed, Render } from '../press/sheet.ts';
import type { render } from '../render.ts';

/** The project's own folder. */
export const PROJECT = fileURLToPath(new URL('../../', import.meta.url));

/** The program's own version. */
export const VERSION = (JSON.parse(readFileSync(join(PROJECT, 'package.json'), 'utf8')) as { version: string }).version;

const SERVER = join(PROJECT, 'dist/server');
const CLIENT = join(PROJECT, 'dist/client');

/** What decides how a tree looks, beside the ledger: the built pages, and the code that presses. */
const PRESS_CODE = ['src/press', 'src/desk', 'src/ledger'];
/** What Astro builds from. */
const PAGE_CODE = [
  'src/pages',
  'src/layouts',
  'src/parts',
  // The story page's checks, which a browser runs, are made of these.
  'src/ledger',
  'src/records',
  'src/press/prose-html.ts',
  'src/render.ts',
  'astro.config.mjs',
  'package-lock.json',
  'public',
];

export interface Build {
  /** Prints any page; the press knows a paper’s alone. */
  render: Render & typeof render;
  /** Stylesheets, fonts and scripts that every paper's tree carries. */
  assets(): Iterable<Printed>;
  /** Changes when the pages or the press change. */
  stamp: string;
}

let loaded: Promise<Build> | undefined;

/** Loads the built pages. Throws `unavailable` when they were not built. */
export function loadBuild(): Promise<Build> {
  loaded ??= load();
  return loaded;
}

async function load(): Promise<Build> {
  const entry = join(SERVER, 'render.mjs');
  if (!existsSync(entry)) {
    throw new Fault('unavailable', 'the pages are not built; run `npm run build` (or `npm start`, which builds first)');
  }
  const built = (await import(pathToFileURL(entry).href)) as Pick<Build, 'render'>;
  return {
    render: built.render,
    assets,
    stamp: digestOf([
      ...filesIn(SERVER),
      ...filesIn(CLIENT),
      ...PRESS_CODE.flatMap((path) => filesIn(join(PROJECT, path))),
    ]),
  };
}

function* assets(): Iterable<Printed> {
  for (const file of filesIn(CLIENT)) yield { path: file.slice(CLIENT.length + 1), body: readFileSync(file) };
}

/** Names the code that the pages are built from; written beside the build to tell whether it is still of today. */
export function sourceStamp(): string {
  return digestOf(PAGE_CODE.flatMap((path) => filesIn(join(PROJECT, path))));
}

/** Whether the built pages are those of the present code. */
export function isBuilt(): boolean {
  const file = join(SERVER, 'source.txt');
  return existsSync(join(SERVER, 'render.mjs')) && existsSync(file) && readFileSync(file, 'utf8') === sourceStamp();
}

function filesIn(path: string): string[] {
  if (!existsSync(path)) return [];
  if (statSync(path).isFile()) return [path];
  const entries = readdirSync(path, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
}

function digestOf(files: string[]): string {
  const hash = createHash('sha256');
  for (const file of files)
    hash.update(file.slice(PROJECT.length)).update('\0').update(readFileSync(file)).update('\0');
  return hash.digest('hex');
}
