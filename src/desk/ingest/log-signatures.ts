import type { VerifierKey } from '../../proof/key-text.ts';
import { parseCheckpoint, type SignedCheckpoint } from '../../proof/log/checkpoint.ts';
import { LogFault } from '../../proof/log/log-fault.ts';
import { nodeCrypto } from '../../proof/log/node-crypto.ts';
import { LOG_TYPES, readVerifierKey, signedBy, WITNESS_TYPES } from '../../proof/log/signatures.ts';
import {
  type CosignatureLine,
  damaged,
  type HeadLine,
  isLogLine,
  linesOf,
  parseLedgerLine,
  readLogLine,
} from './ledger-lines.ts';

/**
 * Verifies the signatures of an export's heads: the log's with the key that the export names, each cosignature with the
 * key that its line names. The file cannot prove who owns these keys; that takes the log's key and a policy. Skips
 * heads of an earlier origin, whose key the export does not name. Throws `invalid_request`.
 */
export async function checkLogSignatures(file: string): Promise<void> {
  let number = 0;
  let logKey: VerifierKey | null = null;
  let head: HeadLine | null = null;
  for (const text of linesOf(file)) {
    const where = `${file}:${++number}`;
    // Most lines are large and not part of the log. The importer reports their faults.
    if (!MAYBE_LOG_LINE.test(text)) continue;
    const parsed = parseLedgerLine(text, where);
    if (!isLogLine(parsed)) continue;
    try {
      const line = readLogLine(parsed);
      if (line.type === 'log-key') logKey = readVerifierKey(line.vkey, LOG_TYPES);
      if (line.type === 'head') {
        head = line;
        await checkHead(line, logKey);
      }
      if (line.type === 'cosignature') await checkCosignature(line, head);
    } catch (fault) {
      if (fault instanceof LogFault) throw damaged(where, fault.message);
      throw fault;
    }
  }
}

/** Matches every line of these types, however its JSON is escaped, and few others. */
const MAYBE_LOG_LINE = /"(?:log-key|head|cosignature)"|\\u/;

async function checkHead({ checkpoint }: HeadLine, key: VerifierKey | null): Promise<void> {
  const signed = parseCheckpoint(checkpoint);
  if (key?.name === signed.origin) await requireSignature(signed, key);
}

async function checkCosignature({ vkey, line, time }: CosignatureLine, head: HeadLine | null): Promise<void> {
  const key = readVerifierKey(vkey, WITNESS_TYPES);
  const signed = await requireSignature(parseCheckpoint(`${head?.checkpoint}${line}\n`), key);
  if (signed !== null && signed !== time) {
    throw new LogFault(`it says time ${time}, but the witness signed at ${signed}`);
  }
}

/** Returns the signed time; null if there is none, or if this platform cannot verify the signature. */
async function requireSignature(checkpoint: SignedCheckpoint, key: VerifierKey): Promise<number | null> {
  const signed = await signedBy(checkpoint, key, nodeCrypto);
  if (signed.by === 'nobody') throw new LogFault(`${key.name} has not signed the checkpoint`);
  return signed.by === 'key' ? signed.time : null;
}
