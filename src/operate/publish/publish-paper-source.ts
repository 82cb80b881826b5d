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
import { sizeOf } from '../../shared/files/file-size.ts';
import { requireUnlinked } from '../../shared/files/plain-file.ts';
import type { Unpublished } from '../../store/publications.ts';
import { type HeaderRules, parseHeaderRules } from './header-rules.ts';
import type { Difference, Pending, Source, SourceFile } from './source.ts';

const HEADERS_FILE = '_headers';
/** What the paths of a paper begin with, besides those of its own pages. */
const OWN = new Set([HEADERS_FILE, ...Object.keys(PATHS).map((pattern) => pattern.split('/')[1] ?? '')]);
/** How often a running press is looked at, in ms, and for how long one that was interrupted may take to be resumed. */
const PRESS_POLL = 50;
const RESUME_TIME = 2_000;

/** A paper's pressed tree. The manifest says what it has; triggers queue what changes. */
export class PaperSource implements Source {
  readonly tree: string;
  readonly key: string;
  readonly folder: string;
  readonly #app: AppContext;
  readonly #target: string;
  readonly #keepsHeaders: boolean;
  /** The rows of the last plan, by path. */
  #rows = new Map<string, Unpublished[]>();
  #rules: { text: string; parsed: HeaderRules } | null = null;

  /** `keepsHeaders`: the target stores headers, so that files whose headers change are sent again. */
  constructor(app: AppContext, paper: string, target: string, keepsHeaders: boolean) {
    this.tree = paper;
    this.key = app.store.desk.signingKeys()[0]?.kid ?? '';
    this.folder = join(app.settings.distDir, paper);
    this.#app = app;
    this.#target = target;
    this.#keepsHeaders = keepsHeaders;
  }

  publication(): string | null {
    return this.#table.find(this.#target, this.tree)?.publication || null;
  }

  *files(): Iterable<SourceFile> {
    const seen = new Set<string>();
    for (const { path, digest } of this.#app.store.desk.manifest.allFiles(this.tree)) {
      // Equal pictures of several outputs share their files.
      if (seen.has(path)) continue;
      seen.add(path);
      yield fileAt(this.folder, path, digest);
    }
  }

  mayHave(path: string): boolean {
    const [top = '', name, ...deeper] = path.split('/');
    // A page of the paper's own has any name.
    const isPage = name === 'index.html' && deeper.length === 0;
    return isPage || OWN.has(top);
  }

  headersOf(path: string): Record<string, string> {
    return this.#currentRules().parsed.of(path);
  }

  doubt(): void {
    this.#table.begin(this.#target, this.tree, '');
  }

  watch(): void {
    this.#table.watch(this.#target, this.tree);
  }

  begin(publication: string, differences: readonly Difference[] | null): void {
    const paths = (...kinds: Difference['what'][]) =>
      (differences ?? []).filter(({ what }) => kinds.includes(what)).map(({ path }) => path);
    this.#app.store.database.transact(() => {
      if (differences !== null) {
        this.#table.queue(this.#target, this.tree, {
          added: paths('missing'),
          changed: paths('other bytes', 'other headers'),
          strays: paths('stray'),
        });
        this.#table.setRules(this.#target, this.tree, this.#currentRules().text);
      }
      this.#table.begin(this.#target, this.tree, publication);
    });
  }

  async pending(signal?: AbortSignal): Promise<Pending> {
    await this.#pressed(signal);
    this.#queueOtherHeaders();
    const rows = this.#table.unpublished(this.#target, this.tree);
    this.#rows = Map.groupBy(rows, ({ path }) => path);
    const stages = new Map<string, SourceFile[]>();
    const gone: string[] = [];
    for (const [path, [first, ...more]] of this.#rows) {
      const row = [first, ...more].find((each) => each !== undefined && each.digest !== null);
      if (row === undefined || row.digest === null) {
        gone.push(path);
        continue;
      }
      const { digest } = row;
      const stage = `${outputNamed(row.sheet)?.output.stage ?? 'host'} ${row.isAdded}`;
      const files = stages.get(stage) ?? [];
      files.push(fileAt(this.folder, path, digest));
      stages.set(stage, files);
    }
    // A path may have moved from one output to another.
    const listed = new Set(gone.length === 0 ? [] : this.#table.listed(this.tree, gone));
    const settled = gone.filter((path) => listed.has(path));
    if (settled.length > 0) this.settle([], settled);
    // New files first, to which no page links that readers know; then the pages that link to them.
    const ordered = [true, false].flatMap((isAdded) => STAGES.map((stage) => stages.get(`${stage} ${isAdded}`) ?? []));
    return { stages: ordered.filter((files) => files.length > 0), removals: gone.filter((path) => !listed.has(path)) };
  }

  settle(sent: readonly SourceFile[], removed: readonly string[]): void {
    const paths = [...sent.map(({ path }) => path), ...removed];
    this.#table.settle(
      this.#target,
      this.tree,
      paths.flatMap((path) => this.#rows.get(path) ?? []),
    );
  }

  finish(): void {
    this.#table.finish(this.#target, this.tree, this.#app.clock.now(), 0);
  }

  get #table() {
    return this.#app.store.database.publications;
  }

  /** Waits until no press is at work on the tree: its removals are only safe once every link to them is gone. */
  async #pressed(signal: AbortSignal | undefined): Promise<void> {
    const start = performance.now();
    for (;;) {
      signal?.throwIfAborted();
      const state = this.#table.pressState(this.tree, Date.now());
      if (state === 'complete') return;
      if (state === 'interrupted' && performance.now() - start > RESUME_TIME) {
        throw new Fault(
          'unavailable',
          `the last press of ${this.tree} was interrupted; run broadsheet press, then publish again`,
        );
      }
      await sleep(PRESS_POLL, undefined, { signal });
    }
  }

  /** Queues the files whose headers are no longer those that they were sent with. */
  #queueOtherHeaders(): void {
    this.#rules = null;
    const known = this.#table.find(this.#target, this.tree);
    if (known === null || known.publication === '') return;
    const current = this.#currentRules();
    if (known.rules === current.text) return;
    const before = parseHeaderRules(known.rules);
    const hasOthers = ({ path }: SourceFile) =>
      JSON.stringify(before.of(path)) !== JSON.stringify(current.parsed.of(path));
    const changed = this.#keepsHeaders ? [...this.files()].filter(hasOthers).map(({ path }) => path) : [];
    this.#app.store.database.transact(() => {
      this.#table.queue(this.#target, this.tree, { added: [], changed, strays: [] });
      this.#table.setRules(this.#target, this.tree, current.text);
    });
  }

  #currentRules(): { text: string; parsed: HeaderRules } {
    if (this.#rules === null) {
      const text = textIn(join(this.folder, HEADERS_FILE));
      this.#rules = { text, parsed: parseHeaderRules(text) };
    }
    return this.#rules;
  }
}

/** A paper that is not public has no tree, and no `_headers`. */
function textIn(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return '';
    throw error;
  }
}

/** A file of a tree on disk; with a digest, only while its bytes are these. */
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
