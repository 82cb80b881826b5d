import { Fault } from '../../../src/fault.ts';

/** A fault's words, for the form that was refused: as a sentence. Throws what is no fault, or not the form's. */
export function problemOf(error: unknown): string {
  if (!(error instanceof Fault) || error.code === 'unavailable') throw error;
  return `${error.message.charAt(0).toUpperCase()}${error.message.slice(1)}.`;
}
