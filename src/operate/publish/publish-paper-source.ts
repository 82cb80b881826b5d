import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { PATHS } from '../../desk/press/feeds/headers.ts';
import { STAGES } from '../../desk/press/output.ts';
import { outputNamed } from '../../desk/press/outputs/all.ts';
import { sha256 } from '../../proof/basis.ts';
import type { AppContext } from '../../server/context.ts';
import { codeOf, Fault } from '../../shared/fault.ts';
import { requireUnlinked, sizeOf } from '../../shared/files/plain-file.ts';
import type { Unpublished } from '../../store/publications.ts';
import { type HeaderRules, parseHeaderRules } from './object-headers.ts';
import type { Difference, Source, SourceFile } from './source.ts';

const HEADERS_FILE = '_headers';
/** The first segments of a paper's paths, except for the pages that the paper itself adds. */
const OWN = new Set([HEADERS_FILE, ...Object.keys(PATHS).map((pattern) => pattern.split('/')[1] ?? '')]);
/** How often a running press is checked, and how long an interrupted one may take to resume, in ms. */
const PRESS_POLL = 50;
const RESUME_TIME = 2_000;

/**
 * A paper's pressed tree. The manifest lists its files; triggers queue those that change. `keepsHeaders`: the target
 * stores headers, so files whose headers change are sent again.
 */
export function paperSource(app: AppContext, tree: string, target: string, keepsHeaders: boolean): Source {
  const { desk, database } = app.store;
  const table = database.publications;
  const folder = join(app.settings.distDir, tree);
  /** The queued rows of the last plan, by path. */
  let rows = new Map<string, Unpublished[]>();
  let rules: { text: string; of: HeaderRules } | null = null;

  function currentRules() {
    if (rules === null) {
      const text = textIn(join(folder, HEADERS_FILE));
      rules = { text, of: parseHeaderRules(text) };
    }
    return rules;
  }

  function* files(): Iterable<SourceFile> {
    const seen = new Set<string>();
    for (const { path, digest } of desk.manifest.allFiles(tree)) {
      // Outputs with the same picture share its file.
      if (seen.has(path)) continue;
      seen.add(path);
      yield fileAt(folder, path, digest);
    }
  }

  function settle(sent: readonly SourceFile[], removed: readonly string[]): void {
    const paths = [...sent.map(({ path }) => path), ...removed];
    const settled = paths.flatMap((path) => rows.get(path) ?? []);
    table.settle(target, tree, settled);
  }

  /** Waits until no press is at work on the tree: its removals are only safe once every link to them is gone. */
  async function pressed(signal: AbortSignal | undefined): Promise<void> {
    const start = performance.now();
    for (;;) {
      signal?.throwIfAborted();
      const state = table.pressState(tree, Date.now());
      if (state === 'complete') return;
      if (state === 'interrupted' && performance.now() - start > RESUME_TIME) {
        const message = `the last press of ${tree} was interrupted; run broadsheet press, then publish again`;
        throw new Fault('unavailable', message);
      }
      await sleep(PRESS_POLL, undefined, { signal });
    }
  }

  /** Queues the files whose headers have changed since they were sent. */
  function queueOtherHeaders(): void {
    rules = null;
    const known = table.find(target, tree);
    if (known === null || known.publication === '') return;
    const current = currentRules();
    if (known.rules === current.text) return;
    const before = parseHeaderRules(known.rules);
    const hasOthers = (path: string) => JSON.stringify(before(path)) !== JSON.stringify(current.of(path));
    const changed = keepsHeaders ? Array.from(files(), ({ path }) => path).filter(hasOthers) : [];
    database.transact(() => {
      table.queue(target, tree, { added: [], changed, strays: [] });
      table.setRules(target, tree, current.text);
    });
  }

  return {
    tree,
    key: desk.signingKeys()[0]?.kid ?? '',
    folder,
    publication: () => table.find(target, tree)?.publication || null,
    files,
    mayHave(path) {
      const [top = '', name, ...deeper] = path.split('/');
      // A page that the paper itself adds may have any name.
      const isPage = name === 'index.html' && deeper.length === 0;
      return isPage || OWN.has(top);
    },
    headersOf: (path) => currentRules().of(path),
    doubt: () => table.begin(target, tree, ''),
    watch: () => table.watch(target, tree),
    begin(publication, differences) {
      const paths = (...kinds: Difference['what'][]) =>
        (differences ?? []).filter(({ what }) => kinds.includes(what)).map(({ path }) => path);
      database.transact(() => {
        if (differences !== null) {
          table.queue(target, tree, {
            added: paths('missing'),
            changed: paths('other bytes', 'other headers'),
            strays: paths('stray'),
          });
          table.setRules(target, tree, currentRules().text);
        }
        table.begin(target, tree, publication);
      });
    },
    async pending(signal) {
      await pressed(signal);
      queueOtherHeaders();
      rows = Map.groupBy(table.unpublished(target, tree), ({ path }) => path);
      const stages = new Map<string, SourceFile[]>();
      const gone: string[] = [];
      for (const [path, queued] of rows) {
        const row = queued.find(({ digest }) => digest !== null);
        if (row === undefined || row.digest === null) {
          gone.push(path);
          continue;
        }
        const stage = `${outputNamed(row.sheet)?.output.stage ?? 'host'} ${row.isAdded}`;
        const group = stages.get(stage) ?? [];
        group.push(fileAt(folder, path, row.digest));
        stages.set(stage, group);
      }
      // A path may have moved from one output to another.
      const listed = new Set(gone.length === 0 ? [] : table.listed(tree, gone));
      const settled = gone.filter((path) => listed.has(path));
      if (settled.length > 0) settle([], settled);
      // New files first, because no published page links to them yet; then the changed pages, which do.
      const ordered = [true, false].flatMap((isAdded) =>
        STAGES.map((stage) => stages.get(`${stage} ${isAdded}`) ?? []),
      );
      return { stages: ordered.filter((one) => one.length > 0), removals: gone.filter((path) => !listed.has(path)) };
    },
    settle,
    finish: () => table.finish(target, tree, app.clock.now(), 0),
  };
}

/** The text of a file; empty without one: a paper that is not public has no tree, and no `_headers`. */
function textIn(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return '';
    throw error;
  }
}

/** A file of a tree on disk. With a digest, `read` returns its bytes only if they match. */
export function fileAt(folder: string, path: string, digest?: string): SourceFile {
  const file = join(folder, path);
  return {
    path,
    size: () => sizeOf(file),
    async read() {
      try {
        requireUnlinked(folder, path);
        const bytes = await readFile(file);
        return digest === undefined || sha256(bytes) === digest ? bytes : null;
      } catch (error) {
        if (codeOf(error) === 'ENOENT') return null;
        throw error;
      }
    },
  };
}
