import { verifyNode } from '../../proof/ed25519.ts';
import { vkeyFields } from '../../proof/key-text.ts';
import { isSignedBy } from '../../proof/keyring.ts';
import { type Checkpoint, parseCheckpoint } from '../../proof/log/checkpoint.ts';
import type { LogService } from '../../proof/log/leaf.ts';
import { LogFault } from '../../proof/log/log-fault.ts';
import { type Policy, policyText } from '../../proof/log/policy.ts';
import type { Settings } from '../../server/env.ts';
import { caught } from '../../shared/fault.ts';
import { readOwnLogPolicy } from '../../shared/files/log-policy.ts';
import { checkpointWithLateLines } from './cosigned-head.ts';
import { logFolder, publishedCheckpoint, removeLeftovers, writeLogFiles } from './log-files.ts';
import type { LogContext, LogKey } from './log-key.ts';

interface PublicationOptions {
  /**
   * Whether to compare every file with the database, instead of writing only what is new since the published
   * checkpoint.
   */
  isWhole: boolean;
  /** Throws when this process has lost the lease. */
  assertHeld(): void;
}

/**
 * Publishes the new part of a log: tiles and entries, then the checkpoint. After a crash, the next call resumes. Throws
 * `unavailable` naming the file.
 */
export async function publishLog(
  { settings, store }: LogContext,
  log: LogService,
  key: LogKey,
  { isWhole, assertHeld }: PublicationOptions,
): Promise<void> {
  const folder = logFolder(settings.logDir, log);
  const shown = shownHead({ settings, store }, log, key);
  const published = ownCheckpoint(folder, key);
  // Readers must never see a smaller log than before, for example when a policy is set for a log that had none.
  const isBehind = shown === null || shown.size < (published?.size ?? 0);
  const isUpToDate = shown?.size === published?.size && publishedCheckpoint(folder) === shown?.checkpoint;
  if (isBehind || (isUpToDate && !isWhole)) return;
  if (isWhole) removeLeftovers(folder);
  await writeLogFiles(folder, store.database.log, log, {
    texts: { vkey: `${key.vkey}\n`, policy: publishedPolicy(settings, log, key) },
    old: isWhole ? 0 : (published?.size ?? 0),
    ...shown,
    assertHeld,
  });
}

/** The head for the published checkpoint: the newest that met its quorum, or the newest of all while none did. */
function shownHead({ settings, store }: LogContext, log: LogService, { origin }: LogKey) {
  const policy = ownPolicy(settings);
  const cosigned = policy === null ? null : store.database.log.newestCosigned(log, origin);
  if (policy !== null && cosigned !== null) {
    const checkpoint = checkpointWithLateLines(store.database.log, { log, origin, policy }, cosigned);
    return { size: cosigned.size, checkpoint };
  }
  const newest = store.database.log.newestHead(log, origin);
  return newest && { size: newest.size, checkpoint: newest.checkpoint };
}

/** The published checkpoint of a folder; null unless this log's key signed it. */
export function ownCheckpoint(folder: string, key: LogKey): Checkpoint | null {
  const text = publishedCheckpoint(folder);
  if (text === null) return null;
  const checkpoint = caught(LogFault, () => parseCheckpoint(text));
  if (checkpoint instanceof LogFault || checkpoint.origin !== key.origin) return null;
  return isSignedBy(checkpoint.note, key.signer, verifyNode) ? checkpoint : null;
}

/** Parsed policies, by the settings object that names their file. */
const read = new WeakMap<object, Policy>();

/**
 * The policy in force; null without witnesses. Read once per settings object, so that all parts of a server use the
 * same policy. Throws `invalid_request` naming file and line.
 */
export function ownPolicy(settings: Pick<Settings, 'logPolicy'>): Policy | null {
  const { logPolicy } = settings;
  if (logPolicy === null) return null;
  const policy = read.get(settings) ?? readOwnLogPolicy(logPolicy);
  read.set(settings, policy);
  return policy;
}

/** The policy for readers of a log: this log alone, since they know its address, and the witnesses in force. */
export function publishedPolicy(settings: Settings, log: LogService, key: LogKey): string {
  const { witnesses, groups, quorum } = ownPolicy(settings) ?? { witnesses: [], groups: [], quorum: null };
  const own = vkeyFields(key.vkey);
  if (own === null) throw new TypeError(`${key.vkey} is not a verifier key`);
  const url = `${log === 'desk' ? settings.origin : settings.dataOrigin}/log/`;
  return policyText({ logs: [{ key: own, url }], witnesses, groups, quorum });
}
