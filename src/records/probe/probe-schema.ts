import * as z from 'zod';
import { KNOWN_STATUSES, type Probe, SIGNAL_TYPES, UNKNOWN_STATUSES } from '../../proof/records/signal.ts';
import { Fault } from '../../shared/fault.ts';
import { unstorable } from '../../shared/storable.ts';

/** The most values of one signal. A resolver reports `too_many` for more. */
export const MOST_VALUES = 500;
/** The most characters in all values of a signal: a whole message, with every byte as `\DDD`. */
const LONGEST_VALUES = 4 * 65_535;
const MOST_NAMES = 2_000;

/** Only text that the database stores exactly; else the text shown would differ from the signed text. */
const text = (longest: number) =>
  z
    .string()
    .max(longest)
    .check(({ value, issues }) => {
      const why = unstorable(value);
      if (why !== null) issues.push({ code: 'custom', input: value, message: why });
    });
const values = z
  .array(text(LONGEST_VALUES))
  .max(MOST_VALUES)
  .transform((list) => [...new Set(list)].sort());
const time = z.iso.datetime().transform((value) => new Date(value).toISOString());

const SignalSchema = z
  .object({
    status: z.enum([...KNOWN_STATUSES, ...UNKNOWN_STATUSES]),
    ttl: z
      .int()
      .min(0)
      .max(2 ** 31 - 1)
      .nullable(),
    values: values.refine(
      (list) => list.reduce((sum, value) => sum + value.length, 0) <= LONGEST_VALUES,
      'are too long',
    ),
    transport: z.enum(['udp', 'tcp']).nullable(),
    rtt_ms: z.number().min(0).max(600_000).nullable(),
    flags: z.object({ aa: z.boolean(), ad: z.boolean(), tc: z.boolean() }),
    resolver: text(100).optional(),
  })
  .refine(
    ({ status, values: found }) => (status === 'ok') === found.length > 0,
    'must have values exactly when its status is ok',
  );

const CertificateSchema = z.object({
  issuer: text(4_000),
  subject: text(4_000),
  not_before: time,
  not_after: time,
  fingerprint256: z.string().regex(/^[0-9a-f]{64}$/),
  san: z
    .array(text(255))
    .max(MOST_NAMES)
    .transform((list) => [...new Set(list)].sort()),
});

/** A probe as a scanner sends it. Parsing sorts the lists, and rejects everything that a resolver cannot report. */
const ProbeSchema = z
  .object({
    hostname: z.string().max(253),
    at: z.int().min(0),
    signals: z.record(z.enum(SIGNAL_TYPES), SignalSchema),
    certificate: CertificateSchema.nullable(),
    certificate_status: z.enum(['ok', 'none', 'timeout', 'error', 'skipped']),
    wildcard: z.boolean().nullable(),
  })
  .refine(
    ({ certificate, certificate_status }) => (certificate_status === 'ok') === (certificate !== null),
    'must have a certificate exactly when its certificate_status is ok',
  );

/** Parses a probe from another machine. Throws `invalid_request` naming the member and the problem. */
export function parseProbe(json: unknown): Probe {
  const parsed = ProbeSchema.safeParse(json);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  const field = issue?.path.join('.') || 'look';
  throw new Fault('invalid_request', `${field}: ${issue?.message}; send a probe as the queue's document describes it`, {
    field,
  });
}
