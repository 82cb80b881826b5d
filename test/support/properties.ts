import { appendFileSync } from 'node:fs';
import * as fc from 'fast-check';

// biome-ignore lint/performance/noBarrelFile: what properties are made of, with an `assert` of this project's own.
export * from 'fast-check';

/** The seed of every property, so that a run passes or fails alike for everybody. */
const SEED = 1;
/** How many times as many runs as each property asks for; with more than one, each has a new random seed. */
const TIMES = Number(process.env.PROPERTY_TIMES ?? 1);

/**
 * Checks a property as fast-check does, with the suite's own seed. `.ci/wide properties` sets PROPERTY_TIMES: each
 * property then runs so many times as long with a seed of its own, and what fails is added to PROPERTY_FAILURES.
 */
export function assert<Ts>(property: fc.IAsyncProperty<Ts>, given?: fc.Parameters<Ts>): Promise<void>;
export function assert<Ts>(property: fc.IProperty<Ts>, given?: fc.Parameters<Ts>): void;
export function assert<Ts>(property: fc.IRawProperty<Ts>, given: fc.Parameters<Ts> = {}): Promise<void> | void {
  const { numRuns = 100 } = given;
  const wide = TIMES > 1;
  const parameters = wide ? { ...given, numRuns: numRuns * TIMES } : { seed: SEED, ...given };
  const where = new Error().stack?.split('\n').find((line) => line.includes('.test.ts')) ?? '';
  const note = (error: unknown): never => {
    const file = process.env.PROPERTY_FAILURES;
    if (file !== undefined) appendFileSync(file, `${where.trim()}\n${String(error)}\n\n`);
    throw error;
  };
  try {
    // Either kind: what is returned tells which one it was.
    return fc.assert(property as fc.IAsyncProperty<Ts>, parameters)?.catch(note);
  } catch (error) {
    return note(error);
  }
}
