import { Fault } from '../../../src/fault.ts';

/** The message of a fault as a sentence, for its form. Rethrows what the form did not cause. */
export function problemOf(error: unknown): string {
  if (!(error instanceof Fault) || error.code === 'unavailable') throw error;
  return `${error.message.charAt(0).toUpperCase()}${error.message.slice(1)}.`;
}
