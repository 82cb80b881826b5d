import { LogFault, shown } from './log-fault.ts';

const DECIMAL = /^(?:0|[1-9][0-9]{0,15})$/;

/**
 * Parses a size, an index or a time in the form of the C2SP documents: digits without leading zeros. Throws a
 * LogFault that begins with `what`.
 */
export function readDecimal(text: string, what: string): number {
  if (!DECIMAL.test(text)) {
    throw new LogFault(`${what} ${shown(text)} is not a number in decimal digits without leading zeros`);
  }
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw new LogFault(`${what} ${text} is more than ${Number.MAX_SAFE_INTEGER}`);
  return value;
}
