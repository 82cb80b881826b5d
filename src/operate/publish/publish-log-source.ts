import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { filesIn } from '../../desk/press/tree.ts';
import { sha256 } from '../../proof/basis.ts';
import { parseCheckpoint } from '../../proof/log/checkpoint.ts';
import { TILE_WIDTH, tilePath, tilesBetween } from '../../proof/log/tile.ts';
import type { AppContext } from '../../server/context.ts';
import { Fault } from '../../shared/fault.ts';
import { isLogPath, isLogText, LOG_TEXTS } from '../../shared/transparency/log-paths.ts';
import { logFolder } from '../../signing/log/log-files.ts';
import { logFileHeaders, OPEN_LOG } from './log-headers.ts';
import { fileAt } from './publish-paper-source.ts';
import type { Difference, Pending, Source, SourceFile } from './source.ts';

/** The name of the log's tree at a target; no paper may have it. */
export const LOG_TREE = 'log';
const CHECKPOINT = 'checkpoint';

/** The published files of the desk's transparency log: tiles, then the texts, then the checkpoint. */
export class LogSource implements Source {
  readonly tree = LOG_TREE;
  readonly key: string;
  readonly folder: string;
  readonly #app: AppContext;
  readonly #target: string;
  /** What a comparison has found and is not settled. */
  readonly #found = new Map<string, 'send' | 'remove'>();
  /** Partial tiles that the target may have, because they were on disk while it was compared. */
  readonly #partial = new Set<string>();
  /** The target has the tiles of a tree of this size. */
  #base = 0;
  #publication = '';
  /** The last plan: the texts and the size of the tree that they show. */
  #plan: { texts: Map<string, string>; size: number } | null = null;
  #isPending = false;

  constructor(app: AppContext, target: string, vkey: string) {
    this.#app = app;
    this.#target = target;
    this.key = vkey;
    this.folder = logFolder(app.settings.logDir, 'desk');
  }

  /** Whether there is anything to publish. */
  static isThere({ settings }: AppContext): boolean {
    return existsSync(join(logFolder(settings.logDir, 'desk'), CHECKPOINT));
  }

  /** Whether a target lacks something of the log, as far as the database knows. */
  static isStale(app: AppContext, target: string): boolean {
    if (!LogSource.isThere(app)) return false;
    const known = app.store.database.publications.find(target, LOG_TREE);
    return known === null || known.rules !== digestOf(textsIn(logFolder(app.settings.logDir, 'desk')));
  }

  publication(): string | null {
    return this.#known()?.publication || null;
  }

  *files(): Iterable<SourceFile> {
    // A head that was followed by another before it was published leaves partial tiles that no published head needs.
    const needed = tilesOf(this.#current().size);
    for (const path of filesIn(this.folder)) {
      if (!isLogPath(path)) continue;
      if (path.includes(PARTIAL)) this.#partial.add(path);
      yield { ...fileAt(this.folder, path), isSuperseded: !isLogText(path) && !needed.has(path) };
    }
  }

  mayHave(path: string): boolean {
    return isLogPath(path);
  }

  headersOf(path: string): Record<string, string> {
    return { ...OPEN_LOG, ...logFileHeaders(path, this.#app.settings.origin) };
  }

  doubt(): void {
    const {
      database: { publications },
    } = this.#app.store;
    publications.begin(this.#target, this.tree, '');
    publications.setRules(this.#target, this.tree, '');
  }

  watch(): void {
    this.#app.store.database.publications.watch(this.#target, this.tree);
    // Tiles that are written during a comparison are sent after it.
    this.#base = this.#current().size;
  }

  begin(publication: string, differences: readonly Difference[] | null): void {
    this.#publication = publication;
    if (differences === null) {
      this.#base = this.#known()?.size ?? 0;
      // The target is as remembered until something of it is replaced.
      this.#app.store.database.publications.begin(this.#target, this.tree, publication);
      return;
    }
    for (const { path, what } of differences) this.#found.set(path, what === 'stray' ? 'remove' : 'send');
    this.#isPending = differences.length > 0;
  }

  async pending(): Promise<Pending> {
    const known = this.#known();
    const base = this.#publication === '' ? (known?.size ?? 0) : this.#base;
    const current = this.#current();
    const isSame =
      digestOf(current.texts) === known?.rules && current.size === base && this.#found.size === 0 && !this.#isPending;
    if (isSame) return { stages: [], removals: [] };
    this.#plan = current;
    // The log has gone on since the comparison: a partial tile is gone once it is full.
    for (const [path, what] of this.#found) if (this.#isThere(path) !== (what === 'send')) this.#found.delete(path);
    const found = (what: 'send' | 'remove') =>
      [...this.#found].filter((item) => item[1] === what).map(([path]) => path);
    const tiles = new Set(found('send').filter((path) => !isLogText(path)));
    for (const tile of tilesBetween(base, current.size)) tiles.add(tilePath(tile));
    const there = [...tiles].filter((path) => this.#isThere(path));
    const text = (path: string): SourceFile => {
      const bytes = Buffer.from(current.texts.get(path) ?? '');
      return { path, size: async () => bytes.length, read: async () => bytes };
    };
    const stages = [
      there.map((path) => fileAt(this.folder, path)),
      LOG_TEXTS.filter((path) => path !== CHECKPOINT && current.texts.has(path)).map(text),
      [text(CHECKPOINT)],
    ];
    // A publication that was killed may have sent partial tiles of its own.
    const sent: number[] = JSON.parse(known?.sent_sizes ?? '[]');
    const filled = [base, ...sent].flatMap((size) => filledTiles(size, current.size));
    const whole = this.#partial.size === 0 ? new Set() : tilesOf(current.size);
    const outgrown = [...this.#partial].filter((path) => whole.has(path.slice(0, path.lastIndexOf(PARTIAL))));
    const removals = new Set([...found('remove'), ...filled, ...outgrown]);
    if (this.#publication !== '') this.#app.store.database.publications.sending(this.#target, this.tree, current.size);
    return {
      stages: stages.filter((stage) => stage.length > 0),
      // A server that was killed may not have removed them from the disk yet.
      removals: [...removals],
    };
  }

  settle(sent: readonly SourceFile[], removed: readonly string[]): void {
    for (const { path } of sent) this.#found.delete(path);
    for (const path of removed) this.#found.delete(path);
    if (this.#plan === null || !sent.some(({ path }) => path === CHECKPOINT)) return;
    this.#base = this.#plan.size;
    this.#isPending = false;
    this.#app.store.database.publications.setRules(this.#target, this.tree, digestOf(this.#plan.texts));
  }

  finish(): void {
    const {
      database: { publications },
    } = this.#app.store;
    publications.begin(this.#target, this.tree, this.#publication);
    publications.finish(this.#target, this.tree, this.#app.clock.now(), this.#base);
  }

  #isThere(path: string): boolean {
    return existsSync(join(this.folder, path));
  }

  #known() {
    return this.#app.store.database.publications.find(this.#target, this.tree);
  }

  /** The texts on disk, and the size of the tree that the checkpoint shows. */
  #current(): { texts: Map<string, string>; size: number } {
    const texts = textsIn(this.folder);
    const checkpoint = texts.get(CHECKPOINT);
    if (checkpoint === undefined) {
      throw new Fault('unavailable', `${this.folder} has no checkpoint; run broadsheet press, then publish again`);
    }
    return { texts, size: parseCheckpoint(checkpoint).size };
  }
}

function textsIn(folder: string): Map<string, string> {
  const texts = new Map<string, string>();
  for (const name of LOG_TEXTS) {
    const file = join(folder, name);
    if (existsSync(file)) texts.set(name, readFileSync(file, 'utf8'));
  }
  return texts;
}

/** What the path of a partial tile has before its width. */
const PARTIAL = '.p/';

/** The paths of all tiles of a tree. */
const tilesOf = (size: number): Set<string> => new Set([...tilesBetween(0, size)].map(tilePath));

const digestOf = (texts: ReadonlyMap<string, string>) => sha256(JSON.stringify([...texts]));

/** The partial tiles of a tree that are full in a larger one, in every width that may have been published. */
function filledTiles(old: number, size: number): string[] {
  return [...tilesBetween(0, old)]
    .filter(({ width }) => width < TILE_WIDTH)
    .filter((tile) =>
      [...tilesBetween(old, size)].some(
        (now) => now.level === tile.level && now.index === tile.index && now.width === TILE_WIDTH,
      ),
    )
    .flatMap((tile) => Array.from({ length: TILE_WIDTH - 1 }, (_, at) => tilePath({ ...tile, width: at + 1 })));
}
