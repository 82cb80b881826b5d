import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sha256 } from '../../proof/basis.ts';
import { dumpIn, dumpText } from '../../proof/dump-note.ts';
import { membersIn } from '../../proof/narrow.ts';
import { signNote } from '../../proof/signing.ts';
import { DAY, isoTime } from '../../proof/time.ts';
import type { AppContext } from '../../server/context.ts';
import { caught, Fault } from '../../shared/fault.ts';
import type { DumpPlace } from '../../shared/storage/dump-place.ts';
import type { DumpGeneration, DumpState } from '../../store/records/dumps.ts';
import { DUMP_INDEX, DUMP_TYPES, dumpIndex, dumpNamed, dumpNames } from '../dumps.ts';
import { withArchiveLease } from './archive-run.ts';
import { closedBefore } from './archiver.ts';
import { markDumps } from './dump-marks.ts';
import { type WrittenDump, writeDump } from './dump-write.ts';

/**
 * Makes the dumps that are due, under the lease of the archive. Resolves to false when another process holds the lease
 * for longer than `wait` ms. Throws `invalid_request` without DUMPS_URL.
 */
export async function runDumps(app: AppContext, wait?: number): Promise<boolean> {
  const { dumps: place, settings } = app;
  if (place === null || settings.dumps === null)
    throw new Fault('invalid_request', 'DUMPS_URL is not set; set it to a folder or a bucket');
  const { days } = settings.dumps;
  return withArchiveLease(app, wait, async (assertHeld) => {
    await new Dumper(app, place, { assertHeld, days }).run();
  });
}

interface Options {
  /** Throws when this process has lost the lease. */
  assertHeld(): void;
  /** How many days of dumps are kept. */
  days: number;
}

/**
 * Makes the dumps in the storage match the database, one day at a time. A dump counts once the database has its note;
 * then the index is written, and files that it does not list are deleted. So a run that is killed leaves only unlisted
 * files, and the next run continues.
 */
class Dumper {
  readonly #app: AppContext;
  readonly #place: DumpPlace;
  readonly #options: Options;
  readonly #work: string;

  constructor(app: AppContext, place: DumpPlace, options: Options) {
    this.#app = app;
    this.#place = place;
    this.#options = options;
    this.#work = join(app.settings.dataDir, `archive.${process.pid}`);
  }

  async run(): Promise<void> {
    // By a wrong clock, days may look closed that are not over.
    this.#app.clock.assertRight();
    await this.#requireOwn();
    try {
      let seen = markDumps(this.#app);
      this.#removeOld();
      // Dumps that show what must be hidden are removed first.
      await this.#tidy();
      for (let next = this.#next(); next !== null; next = this.#next()) {
        if (!(await this.#make(next, seen))) seen = markDumps(this.#app);
        await this.#writeIndex();
      }
      await this.#tidy();
    } finally {
      rmSync(this.#work, { recursive: true, force: true });
    }
  }

  get #dumps() {
    return this.#app.store.records.dumps;
  }

  /** Throws `conflict` if the storage has the dumps of another service: their files would be deleted as unlisted. */
  async #requireOwn(): Promise<void> {
    const bytes = await this.#place.get(DUMP_INDEX);
    const said = bytes === null ? null : caught(SyntaxError, () => JSON.parse(Buffer.from(bytes).toString('utf8')));
    const days = membersIn(said).days;
    const own = new Set(this.#app.store.desk.signingKeys().map(({ kid }) => kid));
    for (const day of Array.isArray(days) ? days : []) {
      const { kid } = dumpIn(String(membersIn(day).note)) ?? {};
      if (kid === undefined || own.has(kid)) continue;
      const whose = `has the dumps of a service that signs with ${kid}`;
      throw new Fault(
        'conflict',
        `DUMPS_URL: ${this.#place.name} ${whose}; give each service and node a place of its own`,
      );
    }
  }

  /** Marks dumps as removed: days older than DUMPS_DAYS, and days that were closed only by a wrong clock. */
  #removeOld(): void {
    const now = this.#app.clock.now();
    const closed = closedBefore(now);
    for (const { day, start, due, removed_at } of this.#dumps.days()) {
      if (removed_at !== null) continue;
      const isOld = start < closed - this.#options.days * DAY;
      if (isOld || (start >= closed && due === 'clock'))
        this.#app.store.database.transact(() => this.#dumps.remove(day, now));
    }
  }

  /** The next day to make a dump of: first those that show a name that opted out, then the newest. */
  #next(): DumpState | null {
    const closed = closedBefore(this.#app.clock.now());
    const due = this.#dumps
      .days()
      .filter(({ start, due, removed_at }) => due !== null && removed_at === null && start < closed);
    return due.find((state) => state.due === 'opted_out') ?? due[0] ?? null;
  }

  /** Makes the dump of a day. Returns false if the data changed meanwhile, so that it must be made again. */
  async #make(state: DumpState, seen: { through: number; clock: number }): Promise<boolean> {
    const { store, clock, signer } = this.#app;
    const written = await writeDump(this.#app, state.start, this.#newWork());
    const [newest = null] = this.#dumps.generations(state.day);
    const before = newest === null ? null : dumpIn(newest.note);
    const [parquet, ndjson] = [`sha256:${written.parquet.sha256}`, `sha256:${written.ndjson.sha256}`];
    const isSame = before !== null && before.parquet === parquet && before.ndjson === ndjson;
    const generation = isSame ? before.generation : (before?.generation ?? 0) + 1;
    await this.#put(state.day, generation, written);
    return store.database.transact(() => {
      this.#options.assertHeld();
      if (isSame) return this.#dumps.settle(state, seen, null);
      const key = signer.key('records');
      const at = Math.max(clock.now(), key.nbf, newest?.at ?? 0);
      const note = signNote(
        dumpText({
          ...{ day: state.day, generation, rows: written.rows, parquet, ndjson },
          ...{ prev: newest === null ? null : textHash(newest.note), signed_at: isoTime(at), kid: key.kid },
        }),
        key.signer,
      );
      const made: DumpGeneration = {
        ...{ day: state.day, generation, reason: newest === null ? 'new' : (state.due ?? 'late'), rows: written.rows },
        ...{ parquet_bytes: written.parquet.bytes, ndjson_bytes: written.ndjson.bytes, note, at },
      };
      if (!this.#dumps.settle(state, seen, made)) return false;
      store.records.logLeaf(note);
      return true;
    });
  }

  async #put(day: string, generation: number, { parquet, ndjson }: WrittenDump): Promise<void> {
    this.#options.assertHeld();
    const names = dumpNames(day, generation);
    await this.#place.put(names.parquet, parquet.path, DUMP_TYPES.parquet);
    await this.#place.put(names.ndjson, ndjson.path, DUMP_TYPES.ndjson);
  }

  async #writeIndex(): Promise<void> {
    const text = Buffer.from(`${JSON.stringify(dumpIndex(this.#app))}\n`);
    const there = await this.#place.get(DUMP_INDEX);
    if (there !== null && text.equals(there)) return;
    const file = join(this.#newWork(), DUMP_INDEX);
    writeFileSync(file, text);
    this.#options.assertHeld();
    await this.#place.put(DUMP_INDEX, file, 'application/json');
  }

  /** Deletes files that the index does not list, and marks dumps with missing files to be made again. */
  async #tidy(): Promise<void> {
    await this.#writeIndex();
    const sizes = await this.#place.list();
    const named = new Map(
      dumpIndex(this.#app).days.flatMap(({ day, files }) => files.map(({ name, bytes }) => [name, { day, bytes }])),
    );
    this.#options.assertHeld();
    await this.#place.remove([...sizes.keys()].filter((name) => dumpNamed(name) !== null && !named.has(name)));
    const lost = new Set([...named].filter(([name, { bytes }]) => sizes.get(name) !== bytes).map(([, { day }]) => day));
    this.#app.store.database.transact(() => {
      for (const day of lost) this.#dumps.mark(day, 'lost');
    });
  }

  #newWork(): string {
    rmSync(this.#work, { recursive: true, force: true });
    mkdirSync(this.#work, { recursive: true, mode: 0o700 });
    return this.#work;
  }
}

/** The hash by which the next dump of a day refers to this one. */
function textHash(note: string): string {
  return sha256(note.slice(0, note.lastIndexOf('\n\n') + 1));
}
