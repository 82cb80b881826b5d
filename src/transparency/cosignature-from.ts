import { toHex } from '../ledger/bytes.ts';
import type { VerifierKey } from '../ledger/key-text.ts';
import { vkeyText } from '../ledger/key-text.ts';
import { cosignedAt } from '../ledger/log/accept-answer.ts';
import { parseCheckpoint } from '../ledger/log/checkpoint.ts';
import { statedTime } from '../ledger/log/cosignature.ts';
import type { LogCrypto } from '../ledger/log/log-crypto.ts';
import type { SignatureLine } from '../ledger/note.ts';
import { signatureLineText } from '../ledger/note.ts';
import type { LogCosignature, LogHead } from './log-tables.ts';

/**
 * A witness's cosignature among the lines that it answered. Throws a LogFault unless there is one, valid and with a
 * time that is not in the future of `now`, in ms.
 */
export async function cosignatureFrom(
  lines: SignatureLine[],
  { origin, size, checkpoint }: LogHead,
  key: VerifierKey,
  now: number,
  crypto: LogCrypto,
): Promise<LogCosignature> {
  const time = await cosignedAt(lines, parseCheckpoint(checkpoint), key, now, crypto);
  // Every line of this key was verified, and `time` is that of one of them.
  const line = lines.find((line) => isBy(key, line) && statedTime(line.signature) === BigInt(time));
  if (line === undefined) throw new Error(`no line of ${key.name} has the time ${time}`);
  return { origin, size, vkey: vkeyOf(key), time, line: signatureLineText(line) };
}

/** The text of a verifier key, by which a witness is known in the tables. */
export function vkeyOf({ name, hash, publicKey, type }: VerifierKey): string {
  return vkeyText(name, hash, publicKey, type);
}

function isBy(key: VerifierKey, { name, keyHash }: SignatureLine): boolean {
  return name === key.name && toHex(keyHash) === key.hash;
}
