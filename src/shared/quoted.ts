const DIRECTION = /[\u202a-\u202e\u2066-\u2069]/g;

/** A value as a JSON text that leaves the direction of the message around it as it is (UAX #9). */
export function quoted(value: unknown): string {
  return JSON.stringify(value).replace(DIRECTION, (sign) => `\\u${sign.charCodeAt(0).toString(16)}`);
}
