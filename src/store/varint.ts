/** SQLite's numbers of variable length: seven bits a byte, the highest first. A safe integer takes eight bytes at most. */

/** What four of seven bits hold. */
const LOW = 2 ** 28;

/** Writes a safe integer that is not negative. Returns where it ends. */
export function putVarint(bytes: Uint8Array, at: number, value: number): number {
  if (value >= 128) return putLong(bytes, at, value);
  bytes[at] = value;
  return at + 1;
}

function putLong(bytes: Uint8Array, at: number, value: number): number {
  let end = at;
  if (value >= LOW) {
    end = putVarint(bytes, at, Math.floor(value / LOW));
    bytes[end - 1] = (bytes[end - 1] ?? 0) | 128;
  }
  // Bitwise operators take the lowest 32 bits of a larger number.
  if (value >= 2 ** 21) bytes[end++] = ((value >> 21) & 127) | 128;
  if (value >= 2 ** 14) bytes[end++] = ((value >> 14) & 127) | 128;
  bytes[end++] = ((value >> 7) & 127) | 128;
  bytes[end++] = value & 127;
  return end;
}

export function varintLength(value: number): number {
  let length = 1;
  for (let rest = value; rest >= 128; rest = Math.floor(rest / 128)) length++;
  return length;
}

export function varints(values: readonly number[]): Uint8Array {
  const bytes = new Uint8Array(values.length * 8);
  const end = values.reduce((at, value) => putVarint(bytes, at, value), 0);
  return bytes.subarray(0, end);
}
