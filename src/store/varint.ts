/** SQLite's numbers of variable length: seven bits a byte, the highest first, and eight in a ninth byte. */

/** What four of seven bits hold. */
const LOW = 2 ** 28;

/** Writes a safe integer, and returns where the next number begins. A negative one takes nine bytes. */
export function putVarint(bytes: Uint8Array, at: number, value: number): number {
  if (value < 128 && value >= 0) {
    bytes[at] = value;
    return at + 1;
  }
  if (value < 16_384 && value >= 0) {
    bytes[at] = 128 | (value >> 7);
    bytes[at + 1] = value & 127;
    return at + 2;
  }
  return putLong(bytes, at, value);
}

function putLong(bytes: Uint8Array, at: number, value: number): number {
  if (value < 0) return putNine(bytes, at, value);
  // Integers of 32 bits are shifted, which a larger number cannot be; a remainder of one takes ten times as long.
  const high = Math.floor(value / LOW);
  const low = value - high * LOW;
  let to = at;
  if (high > 0) {
    to = putVarint(bytes, at, high);
    bytes[to - 1] = (bytes[to - 1] ?? 0) | 128;
    bytes[to++] = (low >> 21) | 128;
  } else if (low >= 2 ** 21) {
    bytes[to++] = (low >> 21) | 128;
  }
  bytes[to++] = ((low >> 14) & 127) | 128;
  bytes[to++] = ((low >> 7) & 127) | 128;
  bytes[to++] = low & 127;
  return to;
}

function putNine(bytes: Uint8Array, at: number, value: number): number {
  let rest = BigInt.asUintN(64, BigInt(value));
  bytes[at + 8] = Number(rest & 255n);
  rest >>= 8n;
  for (let byte = at + 7; byte >= at; byte--) {
    bytes[byte] = Number(rest & 127n) | 128;
    rest >>= 7n;
  }
  return at + 9;
}

/** How many bytes the number at `at` has. */
export function varintLength(bytes: Uint8Array, at: number): number {
  let length = 1;
  while (length < 9 && (bytes[at + length - 1] ?? 0) >= 128) length++;
  return length;
}

/** Reads a safe integer of `length` bytes. */
export function varintAt(bytes: Uint8Array, at: number, length: number): number {
  if (length === 9) return nineAt(bytes, at);
  let value = 0;
  for (let byte = at; byte < at + length; byte++) value = value * 128 + ((bytes[byte] ?? 0) & 127);
  return value;
}

function nineAt(bytes: Uint8Array, at: number): number {
  let value = 0n;
  for (let byte = at; byte < at + 8; byte++) value = (value << 7n) | BigInt((bytes[byte] ?? 0) & 127);
  return Number(BigInt.asIntN(64, (value << 8n) | BigInt(bytes[at + 8] ?? 0)));
}
