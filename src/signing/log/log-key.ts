import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { verifyNode } from '../../proof/ed25519.ts';
import { isSignedBy, vkey } from '../../proof/keyring.ts';
import { parseCheckpoint } from '../../proof/log/checkpoint.ts';
import type { LogService } from '../../proof/log/leaf.ts';
import type { Signer } from '../../proof/signing.ts';
import type { Settings } from '../../server/env.ts';
import { Fault } from '../../shared/fault.ts';
import type { Store } from '../../store/store.ts';
import { readKeyFile, writeNewKey } from '../key-file.ts';

/** The key of a log. Its name is the origin of the log. */
export interface LogKey {
  origin: string;
  signer: Signer;
  /** The verifier key. */
  vkey: string;
}

const FILES: Record<LogService, string> = { desk: 'log.key', records: 'records-log.key' };
/** The settings with the logs' origins. */
export const LOG_ORIGINS: Record<LogService, string> = { desk: 'LOG_ORIGIN', records: 'RECORDS_LOG_ORIGIN' };

export function logKeyFile({ dataDir }: Settings, log: LogService): string {
  return join(dataDir, FILES[log]);
}

/** The origin of a new log: the setting, or else its address without the scheme, as C2SP recommends. */
export function newLogOrigin({ logOrigins, origin, dataOrigin }: Settings, log: LogService): string {
  return logOrigins[log] ?? `${new URL(log === 'desk' ? origin : dataOrigin).host}/log`;
}

/** The parts that the functions of a log need. */
export interface LogContext {
  settings: Settings;
  store: Pick<Store, 'desk' | 'database' | 'records'>;
}

/**
 * The key that a log signs with, and its origin, which stays the same when its address changes. Throws `unavailable`
 * for a key that must not sign for this log.
 */
export function readLogKey({ settings, store }: LogContext, log: LogService): LogKey | null {
  const file = logKeyFile(settings, log);
  if (!existsSync(file)) return null;
  const { signer, kid } = readKeyFile('log', file);
  const origin = signer.name;
  const set = settings.logOrigins[log];
  if (set !== null && set !== origin) {
    throw new Fault(
      'unavailable',
      `the log key file ${file} is that of ${origin}, but ${LOG_ORIGINS[log]} is ${set}; set ${LOG_ORIGINS[log]}=${origin} to go on with that log, or move the file away to begin a new log of the same leaves`,
    );
  }
  if (store.desk.signingKeys().some((key) => key.kid === kid)) {
    throw new Fault(
      'unavailable',
      `the log key file ${file} holds ${kid}, a key that signs receipts; move the file away to have a key of its own made`,
    );
  }
  const key = { origin, signer, vkey: vkey(origin, signer.publicKey) };
  const head = store.database.log.newestHead(log, origin);
  if (head !== null && !isSignedBy(parseCheckpoint(head.checkpoint).note, signer, verifyNode)) {
    throw otherKey(file, log, origin);
  }
  return key;
}

/** The key that a log signs with. Creates one if the log has none. Throws like `readLogKey`. */
export function openLogKey(app: LogContext, log: LogService): LogKey {
  const file = logKeyFile(app.settings, log);
  if (!existsSync(file)) {
    const origin = newLogOrigin(app.settings, log);
    if (app.store.database.log.newestHead(log, origin) !== null) throw otherKey(file, log, origin);
    // Another process may create one at the same time: the first one wins.
    writeNewKey('log', file, origin, { keeps: true });
  }
  const key = readLogKey(app, log);
  if (key === null) throw new Fault('unavailable', `the log key file ${file} is gone; restore it from a backup`);
  return key;
}

/** With another key under the same name, every reader and witness would see another log. */
function otherKey(file: string, log: LogService, origin: string): Fault {
  return new Fault(
    'unavailable',
    `the log key file ${file} does not hold the key that signed the log ${origin} so far; restore it from a backup, or move it away and set ${LOG_ORIGINS[log]} to a new name to begin a new log of the same leaves`,
  );
}
