import { z } from '@hono/zod-openapi';
import { KNOWN_STATUSES, UNKNOWN_STATUSES } from '../../../src/records/signal.ts';

/** What observations and changes look like on the wire (wire.md, section 5). */

export const DomainName = z.string().openapi({ description: 'In A-labels.' });
const Seq = z.int().min(1);

export const Status = z.enum([...KNOWN_STATUSES, ...UNKNOWN_STATUSES]).openapi('SignalStatus', {
  description: `${KNOWN_STATUSES.join(', ')} say what there is; every other one says nothing about it, and makes no change.`,
});

const Signal = z
  .object({
    status: Status,
    ttl: z.int().nullable().openapi({ description: 'Seconds, the smallest of the answer’s.' }),
    values: z.array(z.string()).openapi({ description: 'In presentation form, sorted, each once.' }),
    transport: z.enum(['udp', 'tcp']).nullable(),
    rtt_ms: z.int().nullable(),
    flags: z.object({ aa: z.boolean(), ad: z.boolean(), tc: z.boolean() }),
  })
  .openapi('Signal');

export const CERTIFICATE_STATUSES = ['ok', 'none', 'timeout', 'error', 'skipped'] as const;

const Certificate = z
  .object({
    issuer: z.string(),
    subject: z.string(),
    not_before: z.iso.datetime(),
    not_after: z.iso.datetime(),
    fingerprint256: z.string().openapi({ description: 'SHA-256 of the DER, in hex.' }),
    san: z.array(z.string()),
  })
  .openapi('Certificate');

const identity = {
  domain: DomainName,
  unicode: z.string(),
  registrable_domain: z.string().nullable(),
  observed_at: z.iso.datetime(),
  seq: Seq.openapi({ description: 'The observation’s number, of the whole service.' }),
  summary: z
    .record(z.string(), z.int())
    .openapi({ description: 'Number of values by type; a type whose answer is unknown is left out.' }),
};

const Receipt = z.string().openapi({ description: 'The signed note, verbatim: it commits to every field.' });

export const Preview = z
  .object({
    preview: z.literal(true),
    signed: z.literal(false),
    notice: z.string(),
    ...identity,
    nameservers: z.array(z.string()),
    disclosures: z
      .array(z.object({ index: z.int().min(0), disclosure: z.string(), path: z.array(z.string()) }))
      .openapi({ description: 'Of the fields shown, each with its way to the root that was signed.' }),
    held_back: z.object({ fields: z.int().min(0), how: z.string() }),
    receipt: Receipt,
  })
  .openapi('Preview', { description: 'What anybody may see, without a key.' });

export const FullRecord = z
  .object({
    preview: z.literal(false),
    signed: z.literal(true),
    ...identity,
    signals: z.record(z.string(), Signal),
    certificate: Certificate.nullable(),
    certificate_status: z.enum(CERTIFICATE_STATUSES),
    wildcard: z.boolean().nullable(),
    services: z.array(z.object({ service: z.string(), kind: z.string(), seen_in: z.array(z.string()) })),
    disclosures: z.array(z.string()).openapi({ description: 'Of every field, in leaf order.' }),
    receipt: Receipt,
  })
  .openapi('FullRecord');

export const SignIn = z
  .object({
    sign_in: z.literal(true),
    message: z.string(),
    sign_in_url: z.url(),
    docs: z.url(),
    resets_at: z.iso.datetime(),
  })
  .openapi('SignIn', {
    description: 'What the keyless lane answers once all its callers have spent the day’s ceiling.',
  });

export const Delta = z
  .object({
    seq: Seq,
    at: z.iso.datetime(),
    domain: DomainName,
    signal: z.string(),
    kind: z.enum(['added', 'removed', 'changed']),
    before: z.array(z.string()),
    after: z.array(z.string()),
    observation_seq: Seq.openapi({ description: 'The observation that showed, or confirmed, it.' }),
  })
  .openapi('Delta');
