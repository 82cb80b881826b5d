import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { sha256 } from '../../proof/basis.ts';
import type { VerifyingKey } from '../../proof/keyring.ts';
import { LogFault } from '../../proof/log/log-fault.ts';
import { Fault, messageOf } from '../../shared/fault.ts';
import { plural } from '../../shared/plural.ts';
import { airDue, append } from '../append.ts';
import { generationAudit, verifyingKeyOf } from '../generation-audit.ts';
import { type LedgerEntry, replayClock } from '../ledger-entry.ts';
import { LOG_SERVICES } from '../log-leaves.ts';
import { giveOwnHost } from '../papers/host.ts';
import { signingNameOf } from '../papers/signing-names.ts';
import type { Intake } from './intake.ts';
import {
  currentLine,
  damaged,
  type EndLine,
  isLogLine,
  type LedgerLine,
  linesOf,
  type MediaLine,
  parseLedgerLine,
  VERSIONS,
} from './ledger-lines.ts';
import { LogImport } from './log-import.ts';
import { checkLogSignatures } from './log-signatures.ts';

/**
 * Imports a ledger in one transaction. Returns the number of entries. Throws `conflict` for a used database,
 * `not_found`, `invalid_request`.
 */
export async function importLedger(
  target: Intake,
  file: string,
  onProgress: (entries: number, type: string) => void = () => {},
): Promise<number> {
  const { media, now } = target;
  // Readers were notified of these events when they happened.
  const store: Intake['store'] = { ...target.store, emit() {} };
  if (!existsSync(file)) throw new Fault('not_found', `${file} does not exist; name a file of \`ledger export\``);
  await checkLogSignatures(file);
  const keys: VerifyingKey[] = [];
  // A ledger is imported unchanged, even if it was written while the clock was set back.
  const audit = generationAudit(keys, { clock: false });
  const clock = replayClock();
  const appendLine = (line: LedgerEntry, where: string): void => {
    try {
      if (line.type === 'key') keys.push(verifyingKeyOf(line));
      const renamed = line.type === 'record' ? signingNameOf(line) : null;
      const known = keys.find(({ kid }) => kid === renamed?.kid);
      if (renamed !== null && known !== undefined) keys.push({ ...known, name: renamed.name });
      const fault = audit.next(line)[0];
      if (fault !== undefined) throw damaged(where, fault);
      append(store, line, clock(line));
    } catch (error) {
      // A missing member makes the first rule or table that reads it throw.
      const fault = store.fault(error);
      throw fault instanceof Fault ? fault : damaged(where, messageOf(error).split('\n')[0] ?? '');
    }
  };
  const log = new LogImport(store);
  const parts: Buffer[] = [];
  const hash = createHash('sha256');
  let number = 0;
  let count = 0;
  let ended = false;
  store.transact(() => {
    for (const _ of store.entries()) {
      throw new Fault('conflict', 'the database is not empty; import into a new DATA_DIR');
    }
    // Replaying entries logs nothing, because the export contains the leaves. If it has none, the next signer logs what
    // is public at that time.
    for (const log of LOG_SERVICES) store.log.setFilled(log, false);
    for (const text of linesOf(file)) {
      const where = `${file}:${++number}`;
      const line = parseLedgerLine(text, where);
      if (ended) throw damaged(where, 'there is text after the last line');
      if (number === 1) requireHeader(line, where);
      else if (line.type === 'end') ended = requireEnd(line, count, hash.digest('hex'), where);
      else if (line.type === 'media-part') keepPart(media, parts, line, where);
      else if (isLogLine(line)) checkedLog(where, () => log.take(line));
      else if (line.type !== 'ledger') {
        appendLine(currentLine(line), where);
        onProgress(++count, line.type);
      }
      if (!ended) hash.update(`${text}\n`);
    }
    if (!ended) throw damaged(`${file}:${number}`, 'the last line is missing: the file is cut short');
    checkedLog(`${file}:${number}`, () => log.end());
    airDue(store, now());
    // The operator who imports a ledger vouches for its papers' addresses.
    for (const slug of store.paperSlugs()) giveOwnHost(target, slug);
  });
  return count;
}

function checkedLog(where: string, work: () => void): void {
  try {
    work();
  } catch (error) {
    throw error instanceof LogFault ? damaged(where, error.message) : error;
  }
}

function requireHeader(line: LedgerLine, where: string): void {
  if (line.type === 'ledger' && VERSIONS.includes(line.version)) return;
  const message = `${where}: this is not a ledger export of version ${VERSIONS.slice(0, -1).join(', ')} or ${VERSIONS.at(-1)}; give a file of \`ledger export\``;
  throw new Fault('invalid_request', message);
}

function requireEnd(line: EndLine, count: number, sha: string, where: string): true {
  if (line.entries === count && line.sha256 === sha) return true;
  throw damaged(
    where,
    `lines before this one were lost, added or changed: it counts ${plural(line.entries, 'entry', 'entries')}, the file has ${count}`,
  );
}

function keepPart(media: Intake['media'], parts: Buffer[], line: MediaLine, where: string): void {
  parts.push(Buffer.from(String(line.base64), 'base64'));
  if (parts.length < line.of) return;
  const bytes = Buffer.concat(parts.splice(0));
  if (sha256(bytes) !== line.digest) throw damaged(where, `the media file ${line.digest} is damaged`);
  media.keepBytes(line.digest, bytes);
}
