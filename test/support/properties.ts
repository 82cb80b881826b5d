import { appendFileSync } from 'node:fs';
import * as fc from 'fast-check';

// biome-ignore lint/performance/noBarrelFile: fast-check for properties, with this project's own `assert`.
export * from 'fast-check';

/**
 * Any character, including those of no alphabet. For its own `unit: 'binary'`, fast-check first makes a table of all
 * 1,112,064 characters, which takes a second in every process.
 */
const CHARACTER = fc.nat({ max: 0x10_ff_ff - 0x8_00 }).map((n) => String.fromCodePoint(n < 0xd8_00 ? n : n + 0x8_00));

/** fast-check's `string`. */
export function string(constraints: fc.StringConstraints = {}): fc.Arbitrary<string> {
  return fc.string(constraints.unit === 'binary' ? { ...constraints, unit: CHARACTER } : constraints);
}

/** The seed of every property, so that a run has the same result everywhere. */
const SEED = 1;
/** The most runs of a property on a push; `.ci/wide`, which sets WIDE, has each property's own number. */
const RUNS_MAX = process.env.WIDE === undefined ? 10 : Number.POSITIVE_INFINITY;
/** Multiplies the number of runs of every property. Above 1, each run has a new random seed. */
export const TIMES = Number(process.env.PROPERTY_TIMES ?? 1);

/** How often a property is really run when it asks for `numRuns`. */
export function runsOf(numRuns: number): number {
  return TIMES > 1 ? numRuns * TIMES : Math.min(numRuns, RUNS_MAX);
}

/**
 * Checks a property like fast-check, with the suite's own seed, ten times on a push. `.ci/wide properties` sets
 * PROPERTY_TIMES: it multiplies the runs of each property and uses a new seed, and appends failures to PROPERTY_FAILURES.
 */
export function assert<Ts>(property: fc.IAsyncProperty<Ts>, given?: fc.Parameters<Ts>): Promise<void>;
export function assert<Ts>(property: fc.IProperty<Ts>, given?: fc.Parameters<Ts>): void;
export function assert<Ts>(property: fc.IRawProperty<Ts>, given: fc.Parameters<Ts> = {}): Promise<void> | void {
  const { numRuns = 100 } = given;
  const wide = TIMES > 1;
  const parameters = { ...(wide ? {} : { seed: SEED }), ...given, numRuns: runsOf(numRuns) };
  const where = new Error().stack?.split('\n').find((line) => line.includes('.test.ts')) ?? '';
  const note = (error: unknown): never => {
    const file = process.env.PROPERTY_FAILURES;
    if (file !== undefined) appendFileSync(file, `${where.trim()}\n${String(error)}\n\n`);
    throw error;
  };
  try {
    // Works for both kinds: the return value tells which one it is.
    return fc.assert(property as fc.IAsyncProperty<Ts>, parameters)?.catch(note);
  } catch (error) {
    return note(error);
  }
}
