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
import type { Source, SourceFile } from './source.ts';

/** The name of the log's tree at a target; no paper may have it. */
export const LOG_TREE = 'log';
const CHECKPOINT = 'checkpoint';

/** Whether there is a log to publish. */
export function hasLog({ settings }: AppContext): boolean {
  return existsSync(join(logFolder(settings.logDir, 'desk'), CHECKPOINT));
}

/** Whether a target lacks files of the log, as far as the database knows. */
export function isLogStale(app: AppContext, target: string): boolean {
  if (!hasLog(app)) return false;
  const known = app.store.database.publications.find(target, LOG_TREE);
  return known?.rules !== digestOf(textsIn(logFolder(app.settings.logDir, 'desk')));
}

/** The published files of the desk's transparency log: tiles, then the texts, then the checkpoint. */
export function logSource({ settings, store, clock }: AppContext, target: string, key: string): Source {
  const tree = LOG_TREE;
  const table = store.database.publications;
  const folder = logFolder(settings.logDir, 'desk');
  /** Differences that a comparison found, and that are not settled yet. */
  const found = new Map<string, 'send' | 'remove'>();
  /** Partial tiles that the target may have, because they were on disk while it was compared. */
  const partial = new Set<string>();
  /** The size of the tree whose tiles the target has. */
  let base = 0;
  let publication = '';
  /** The last plan: the texts and the size of the tree that they show. */
  let plan: { texts: Map<string, string>; size: number } | null = null;
  let isPending = false;

  const known = () => table.find(target, tree);
  const isThere = (path: string) => existsSync(join(folder, path));

  /** The texts on disk, and the size of the tree that the checkpoint shows. */
  function current(): { texts: Map<string, string>; size: number } {
    const texts = textsIn(folder);
    const checkpoint = texts.get(CHECKPOINT);
    if (checkpoint === undefined) {
      throw new Fault('unavailable', `${folder} has no checkpoint; run broadsheet press, then publish again`);
    }
    return { texts, size: parseCheckpoint(checkpoint).size };
  }

  return {
    tree,
    key,
    folder,
    publication: () => known()?.publication || null,
    *files() {
      // A head that was replaced before it was published leaves partial tiles that no published head needs.
      const needed = tilesOf(current().size);
      for (const path of filesIn(folder)) {
        if (!isLogPath(path)) continue;
        if (path.includes(PARTIAL)) partial.add(path);
        yield { ...fileAt(folder, path), isSuperseded: !isLogText(path) && !needed.has(path) };
      }
    },
    mayHave: isLogPath,
    headersOf: (path) => ({ ...OPEN_LOG, ...logFileHeaders(path, settings.origin) }),
    doubt() {
      table.begin(target, tree, '');
      table.setRules(target, tree, '');
    },
    watch() {
      table.watch(target, tree);
      // Tiles that are written during the comparison are sent after it.
      base = current().size;
    },
    begin(next, differences) {
      publication = next;
      if (differences === null) {
        base = known()?.size ?? 0;
        // The target is as remembered until a file of it is replaced.
        table.begin(target, tree, publication);
        return;
      }
      for (const { path, what } of differences) found.set(path, what === 'stray' ? 'remove' : 'send');
      isPending = differences.length > 0;
    },
    async pending() {
      const before = known();
      const old = publication === '' ? (before?.size ?? 0) : base;
      const now = current();
      if (digestOf(now.texts) === before?.rules && now.size === old && found.size === 0 && !isPending)
        return { stages: [], removals: [] };
      plan = now;
      // The log may have grown since the comparison, and a partial tile is deleted once it is full.
      for (const [path, what] of found) if (isThere(path) !== (what === 'send')) found.delete(path);
      const foundTo = (wanted: 'send' | 'remove') =>
        [...found].flatMap(([path, what]) => (what === wanted ? path : []));
      const tiles = new Set(foundTo('send').filter((path) => !isLogText(path)));
      for (const tile of tilesBetween(old, now.size)) tiles.add(tilePath(tile));
      const text = (path: string): SourceFile => {
        const bytes = Buffer.from(now.texts.get(path) ?? '');
        return { path, size: async () => bytes.length, read: async () => bytes };
      };
      const stages = [
        [...tiles].filter(isThere).map((path) => fileAt(folder, path)),
        LOG_TEXTS.filter((path) => path !== CHECKPOINT && now.texts.has(path)).map(text),
        [text(CHECKPOINT)],
      ];
      // A killed publication may have sent partial tiles for another size.
      const sent: number[] = JSON.parse(before?.sent_sizes ?? '[]');
      const filled = [old, ...sent].flatMap((size) => filledTiles(size, now.size));
      const whole = partial.size === 0 ? new Set() : tilesOf(now.size);
      const outgrown = [...partial].filter((path) => whole.has(path.slice(0, path.lastIndexOf(PARTIAL))));
      if (publication !== '') table.sending(target, tree, now.size);
      return {
        stages: stages.filter((stage) => stage.length > 0),
        // `outgrown`: a killed server may have left them on disk.
        removals: [...new Set([...foundTo('remove'), ...filled, ...outgrown])],
      };
    },
    settle(sent, removed) {
      for (const { path } of sent) found.delete(path);
      for (const path of removed) found.delete(path);
      if (plan === null || !sent.some(({ path }) => path === CHECKPOINT)) return;
      base = plan.size;
      isPending = false;
      table.setRules(target, tree, digestOf(plan.texts));
    },
    finish() {
      table.begin(target, tree, publication);
      table.finish(target, tree, clock.now(), base);
    },
  };
}

function textsIn(folder: string): Map<string, string> {
  const texts = new Map<string, string>();
  for (const name of LOG_TEXTS) {
    const file = join(folder, name);
    if (existsSync(file)) texts.set(name, readFileSync(file, 'utf8'));
  }
  return texts;
}

/** Precedes the width in the path of a partial tile. */
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
