import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { preload, render } from '../../render.ts';
import { Fault } from '../../shared/fault.ts';
import { PROJECT } from '../../shared/project.ts';
import type { Render, RenderedFile } from './output.ts';

const SERVER = join(PROJECT, 'dist/server');
const CLIENT = join(PROJECT, 'dist/client');
/** Every folder that a build creates. */
export const BUILT = [SERVER, CLIENT];
/** The file with the digest of the code from which the pages were built. */
const SOURCE = join(SERVER, 'source.txt');

/** The code, besides the built pages, on which a pressed tree depends. */
const PRESS_CODE = ['src/desk', 'src/media', 'src/proof'];
/** The inputs of the Astro build. */
export const PAGE_CODE = [
  'src/pages',
  'src/layouts',
  'src/parts',
  // The story page's in-browser checks are built from this code.
  'src/proof',
  'packages/verify/src',
  'packages/verify/without-node.ts',
  'src/desk/door',
  'src/desk/press/prose-cards.ts',
  'src/desk/press/prose-html.ts',
  'src/desk/press/prose-pictures.ts',
  'src/media/motif.ts',
  'src/media/picture-sources.ts',
  'src/shared/script-letters.ts',
  'src/shared/quoted.ts',
  'src/shared/shown-text.ts',
  'src/shared/combining-marks.ts',
  'src/shared/command-line.ts',
  'src/phrases',
  'src/astro',
  'src/render.ts',
  'astro.config.mjs',
  'package-lock.json',
  'public',
];

export type Build = Awaited<ReturnType<typeof load>>;

/** A file that the build made for the pages. */
export interface Asset {
  bytes: Buffer;
  mtime: Date;
}

let loaded: Promise<Build> | undefined;

/** Loads the built pages. Throws `unavailable` when they have not been built. */
export function loadBuild(): Promise<Build> {
  loaded ??= load();
  return loaded;
}

async function load() {
  const entry = join(SERVER, 'render.mjs');
  if (!existsSync(entry)) {
    throw new Fault('unavailable', 'the pages are not built; run `npm run build` (or `npm start`, which builds first)');
  }
  const source = builtFrom();
  if (source === '') throw new Fault('unavailable', 'the pages are being built; try again when they are');
  const built = (await import(pathToFileURL(entry).href)) as {
    render: Render & typeof render;
    preload: typeof preload;
  };
  const files = clientFiles();
  if (builtFrom() !== source) throw new Fault('unavailable', 'the pages are being built; try again when they are');
  let stamp: string | undefined;
  return {
    /** Renders any page; the press renders only the pages of papers. */
    render: built.render,
    preload: built.preload,
    /** Stylesheets, fonts and scripts that every paper's tree carries. */
    *assets(): Iterable<RenderedFile> {
      for (const [path, { bytes }] of files) yield { path, body: bytes };
    },
    /** One of these files, by its path, such as `_astro/paper.css`. They do not change when another process builds. */
    asset: (path: string): Asset | null => files.get(path) ?? null,
    /** A digest of the code of the pages and the press. Computed on first use: worker threads do not need it. */
    get stamp(): string {
      stamp ??= stampFrom(builtFrom());
      return stamp;
    },
    /** Throws `unavailable` when the pages on disk were built again since they were loaded. */
    needCurrent(): void {
      if (builtFrom() === source) return;
      throw new Fault('unavailable', 'the pages were rebuilt while this process ran; restart it to press');
    },
  };
}

/** The stamp that `Build` will have once the present code is built. */
export function nextStamp(): string {
  return stampFrom(pageCode());
}

/** Excludes Astro's output, which contains a new random key in each build. */
function stampFrom(source: string): string {
  return `${source}.${digestOf(PRESS_CODE)}`;
}

/** The digest of `PAGE_CODE` of the pages on disk; empty while they are being built. */
function builtFrom(): string {
  return existsSync(SOURCE) ? readFileSync(SOURCE, 'utf8') : '';
}

/** Reads some 1.3 MB at once, because a build in another process may replace the folder. */
function clientFiles(): Map<string, Asset> {
  return new Map(
    filesIn(CLIENT).map((file) => [
      file.slice(CLIENT.length + 1),
      { bytes: readFileSync(file), mtime: statSync(file).mtime },
    ]),
  );
}

/** Stores the digest of the built code, which later shows whether the build is current. */
export function stampBuild(): void {
  writeFileSync(SOURCE, digestOf(PAGE_CODE));
}

/** Whether the built pages match the current code. */
export function isBuilt(): boolean {
  return existsSync(join(SERVER, 'render.mjs')) && builtFrom() === pageCode();
}

/** The digest of `PAGE_CODE`. The package does not contain this code, so there it is the digest stored by the build. */
function pageCode(): string {
  return existsSync(join(PROJECT, 'src/pages')) ? digestOf(PAGE_CODE) : builtFrom();
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

/** The digest of the paths and contents of files, including those in folders. */
function digestOf(paths: readonly string[]): string {
  const hash = createHash('sha256');
  for (const file of paths.flatMap((path) => filesIn(join(PROJECT, path)))) {
    hash.update(file.slice(PROJECT.length)).update('\0').update(readFileSync(file)).update('\0');
  }
  return hash.digest('hex');
}

/**
 * Runs `astro build`. Its output goes to standard error, because standard output is reserved for the ready line. Throws
 * `unavailable`.
 */
export async function buildPages(env: NodeJS.ProcessEnv, signal?: AbortSignal): Promise<void> {
  const astro = join(PROJECT, 'node_modules/astro/bin/astro.mjs');
  const build = spawn(process.execPath, [astro, 'build'], { cwd: PROJECT, stdio: ['ignore', 2, 2], env });
  const end = () => build.kill();
  process.once('exit', end);
  signal?.addEventListener('abort', end);
  await once(build, 'exit');
  process.off('exit', end);
  if (!isBuilt()) throw new Fault('unavailable', 'the pages could not be built; the lines above say why');
}
