import { toBase64 } from '../../proof/bytes.ts';
import { vkeyText } from '../../proof/key-text.ts';
import { parseCheckpoint } from '../../proof/log/checkpoint.ts';
import type { LogService } from '../../proof/log/leaf.ts';
import { meetsQuorum, type PolicyWitness } from '../../proof/log/policy.ts';
import { isoOrNull, isoTime } from '../../proof/time.ts';
import { plural } from '../../shared/plural.ts';
import type { LogHead, LogTables } from '../../shared/transparency/log-tables.ts';
import { logFolder } from './log-files.ts';
import { type LogContext, newLogOrigin, readLogKey } from './log-key.ts';
import { ownCheckpoint, ownPolicy } from './log-publication.ts';

/** The state of a log, for operators. Times are in ISO 8601. */
export type LogStatus = ReturnType<typeof logStatus>;

/** Reads the state of a log. Throws as `readLogKey` does. */
export function logStatus({ settings, store }: LogContext, log: LogService) {
  const tables = store.database.log;
  const key = readLogKey({ settings, store }, log);
  const origin = key?.origin ?? newLogOrigin(settings, log);
  const policy = ownPolicy(settings);
  const witnesses = policy?.witnesses.map((witness) => witnessStatus(tables, { log, origin }, witness)) ?? null;
  const answering = new Set(witnesses?.flatMap(({ name, fault }) => (fault === null ? [name] : [])));
  const published = key === null ? null : ownCheckpoint(logFolder(settings.logDir, log), key);
  return {
    log,
    origin,
    /** The verifier key; null until the first start creates it. */
    vkey: key?.vkey ?? null,
    leaves: tables.size(log),
    head: headStatus(tables.newestHead(log, origin)),
    /** The newest head that met the quorum; null before the first, and without a policy. */
    cosigned: policy === null ? null : headStatus(tables.newestCosigned(log, origin)),
    /** The number of leaves in the published checkpoint; null when there is none of this log. */
    published: published?.size ?? null,
    /** The witnesses of the policy; null without one. */
    witnesses,
    /** Whether the witnesses that answer can meet the quorum. True without a policy. */
    quorum_answers: policy === null || meetsQuorum(policy, answering),
    /** Why nothing is signed; null while it is. */
    fence: tables.fence(log),
  };
}

function headStatus(head: LogHead | null) {
  if (head === null) return null;
  return {
    size: head.size,
    root: toBase64(parseCheckpoint(head.checkpoint).root),
    signed_at: isoTime(head.signed_at),
  };
}

function witnessStatus(
  tables: Pick<LogTables, 'witness'>,
  { log, origin }: { log: LogService; origin: string },
  { name, key }: PolicyWitness,
) {
  const { seen_size, cosigned_size, cosigned_at, fault, fault_at, next_at } = tables.witness(
    log,
    origin,
    vkeyText(key),
  );
  return {
    name,
    /** The largest tree that the witness has reported. */
    seen_size,
    cosigned_size,
    cosigned_at: isoOrNull(cosigned_at),
    /** Why it did not sign when last asked, and since when; null if it did. */
    fault,
    fault_at: isoOrNull(fault_at),
    /** When a running server will ask it again; null without a fault. */
    next_at: fault === null ? null : isoTime(next_at),
  };
}

/** The state of a log in lines of text, for operators. */
export function logStatusLines(status: LogStatus): string[] {
  const { log, origin, leaves, head, published, fence } = status;
  return [
    `${log}: ${origin}, ${plural(leaves, 'leaf', 'leaves')}`,
    ...(fence === null ? [] : [`  nothing is signed: ${fence}`]),
    head === null ? '  no head was signed yet' : `  head: ${sized(head.size)}, signed ${head.signed_at}, ${head.root}`,
    published === null ? '  nothing is published yet' : `  published: ${sized(published)}`,
    ...witnessLines(status),
  ];
}

function witnessLines({ cosigned, witnesses, quorum_answers }: LogStatus): string[] {
  if (witnesses === null) return ['  there are no witnesses: LOG_POLICY is not set'];
  return [
    cosigned === null
      ? '  no head has met the quorum yet'
      : `  witnessed: ${sized(cosigned.size)}, signed ${cosigned.signed_at}`,
    ...witnesses.map(({ name, cosigned_size, cosigned_at, fault, fault_at, next_at }) => {
      const signed =
        cosigned_size === null ? 'has cosigned nothing yet' : `cosigned ${sized(cosigned_size)} at ${cosigned_at}`;
      return `  witness ${name}: ${signed}${fault === null ? '' : `; since ${fault_at}: ${fault}; asked again at ${next_at}`}`;
    }),
    ...(quorum_answers ? [] : ['  too few witnesses answer for the quorum']),
  ];
}

const sized = (size: number): string => plural(size, 'leaf', 'leaves');
