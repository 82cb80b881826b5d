/** How much of a value that does not fit is said again, in characters. */
const SHOWN_MAX = 80;

/** Something of a transparency log that does not hold. The message is one line that names what is wrong. */
export class LogFault extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'LogFault';
  }
}

/** A value as a message shows it: quoted, on one line, cut at 80 characters. */
export function shown(value: string): string {
  return JSON.stringify(value.length > SHOWN_MAX ? `${value.slice(0, SHOWN_MAX)}…` : value);
}
