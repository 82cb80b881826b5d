/** Maximum length of an invalid value in a message, in characters. */
const SHOWN_MAX = 80;

/** A transparency log, or a part of one, is invalid. The message is one line that names what is wrong. */
export class LogFault extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'LogFault';
  }
}

/** A value for use in a message: quoted, on one line, truncated to 80 characters. */
export function shown(value: string): string {
  return JSON.stringify(value.length > SHOWN_MAX ? `${value.slice(0, SHOWN_MAX)}…` : value);
}
