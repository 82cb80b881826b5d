import { toHex } from '../proof/bytes.ts';
import { dumpIn } from '../proof/dump-note.ts';
import { leafHash } from '../proof/merkle.ts';
import { isoTime } from '../proof/time.ts';
import type { AppContext } from '../server/context.ts';
import type { DumpGeneration } from '../store/records/dumps.ts';

/** Public dumps (protocol 5.11): file names, and the index of dumps. */

/** The file that lists all dumps, beside their files. */
export const DUMP_INDEX = 'index.json';

const NAME = /^(\d{4}-\d\d-\d\d)\.([1-9]\d{0,8})\.(?:parquet|ndjson\.gz)$/;

/** The file names of a dump. They are never used again for another dump. */
export function dumpNames(day: string, generation: number): { parquet: string; ndjson: string } {
  return { parquet: `${day}.${generation}.parquet`, ndjson: `${day}.${generation}.ndjson.gz` };
}

/** Parses the name of a dump's file; null for any other name. */
export function dumpNamed(name: string): { day: string; generation: number } | null {
  const [, day, generation] = NAME.exec(name) ?? [];
  return day === undefined ? null : { day, generation: Number(generation) };
}

export const DUMP_TYPES = { parquet: 'application/vnd.apache.parquet', ndjson: 'application/gzip' } as const;

type App = Pick<AppContext, 'store' | 'settings'>;
export type DumpEntry = ReturnType<typeof entryOf>;

/** The newest dump of a day, as lists show it; null if the day has none to show. */
export function dumpOf(app: App, day: string): DumpEntry | null {
  const { dumps } = app.store.records;
  const state = dumps.day(day);
  if (state === null || state.generation === 0 || state.removed_at !== null || state.due === 'opted_out') return null;
  const [newest, ...earlier] = dumps.generations(day);
  return newest === undefined ? null : entryOf(app, newest, earlier);
}

/**
 * The index of all dumps, newest day first. A day is withheld while a name that opted out is removed from its files.
 */
export function dumpIndex(app: App) {
  const days: DumpEntry[] = [];
  const withheld: string[] = [];
  for (const { day, generation, removed_at } of app.store.records.dumps.days()) {
    if (generation === 0 || removed_at !== null) continue;
    const entry = dumpOf(app, day);
    if (entry === null) withheld.push(day);
    else days.push(entry);
  }
  return { v: 1 as const, days, withheld };
}

function entryOf({ store, settings }: App, newest: DumpGeneration, earlier: DumpGeneration[]) {
  const { day, generation, reason, rows, parquet_bytes, ndjson_bytes, note, at } = newest;
  const said = dumpIn(note);
  const names = dumpNames(day, generation);
  const root = settings.dumps?.publicUrl ?? `${settings.dataOrigin}/dumps`;
  const file = (name: string) => ({ name, url: `${root}/${name}` });
  const hex = (text = '') => text.slice('sha256:'.length);
  const leafOf = (text: string) => {
    const hash = leafHash(text);
    return { index: store.database.log.indexOf('records', hash), hash: toHex(hash) };
  };
  return {
    ...{ day, generation, why: reason, rows, made_at: isoTime(at) },
    files: [
      {
        ...{ format: 'parquet' as const, ...file(names.parquet) },
        ...{ bytes: parquet_bytes, sha256: hex(said?.parquet) },
      },
      {
        ...{ format: 'ndjson' as const, ...file(names.ndjson) },
        ...{ bytes: ndjson_bytes, sha256: hex(said?.ndjson) },
      },
    ],
    note,
    leaf: leafOf(note),
    replaced: earlier.map((one, n) => ({
      generation: one.generation,
      made_at: isoTime(one.at),
      why: (earlier[n - 1] ?? newest).reason,
      leaf: leafOf(one.note),
    })),
  };
}
