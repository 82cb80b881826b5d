import { z } from '@hono/zod-openapi';
import { KNOWN_STATUSES, UNKNOWN_STATUSES } from '../../../src/proof/records/signal.ts';

/** Observations and changes on the wire (protocol 5.2, 5.6 and 5.9). */

export const DomainName = z.string().describe('In A-labels.');
const Seq = z.int().min(1);

export const Status = z.enum([...KNOWN_STATUSES, ...UNKNOWN_STATUSES]).openapi('SignalStatus', {
  description: `${KNOWN_STATUSES.join(', ')} state what is there; every other status means unknown and is never a change.`,
});

const Signal = z
  .object({
    status: Status,
    ttl: z.int().nullable().describe('Seconds; the smallest TTL of the answer.'),
    values: z.array(z.string()).describe('In presentation format, sorted, without duplicates.'),
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
    fingerprint256: z.string().describe('SHA-256 of the DER, in hex.'),
    san: z.array(z.string()),
  })
  .openapi('Certificate');

const identity = {
  domain: DomainName,
  unicode: z.string(),
  registrable_domain: z.string().nullable(),
  observed_at: z.iso.datetime(),
  seq: Seq.describe('Number of the observation, unique across the service.'),
  summary: z.record(z.string(), z.int()).describe('Number of values by type; unknown types are left out.'),
};

const Receipt = z.string().describe('The signed note, verbatim. It commits to every field.');

const PaymentOffer = z
  .object({
    price: z.string().openapi({ example: '0.001 USDC' }),
    units: z.string().openapi({ description: 'The price in atomic units of the token.', example: '1000' }),
    asset: z.string().describe('The address of the token’s contract.'),
    network: z.string().openapi({ example: 'base' }),
    url: z.url().describe('GET it for the menu (402); any x402 client pays it.'),
    how: z.string(),
  })
  .openapi('PaymentOffer', { description: 'What one full answer costs. Absent where payments are not accepted.' });

export const Preview = z
  .object({
    preview: z.literal(true),
    signed: z.literal(false),
    notice: z.string(),
    ...identity,
    nameservers: z.array(z.string()),
    disclosures: z
      .array(z.object({ index: z.int().min(0), disclosure: z.string(), path: z.array(z.string()) }))
      .describe('Disclosures of the fields shown, each with its Merkle path to the signed root.'),
    held_back: z.object({ fields: z.int().min(0), how: z.string(), offer: PaymentOffer.optional() }),
    receipt: Receipt,
  })
  .openapi('Preview', { description: 'What everyone can see without a key.' });

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
    disclosures: z.array(z.string()).describe('Disclosures of every field, in leaf order.'),
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
    offer: PaymentOffer.optional(),
  })
  .openapi('SignIn', {
    description: 'The response of the keyless lane after the daily limit of all callers is used up.',
  });

export const OwnerNote = z
  .object({
    name: z.string().describe('The name that the owner proved.'),
    text: z.string().describe('Plain text of one line. Show it as the owner’s words, isolated, without links.'),
    written_at: z.iso.datetime(),
  })
  .openapi('OwnerNote', { description: 'What a proven owner says about a change. It is not signed.' });

export const Delta = z
  .object({
    seq: Seq,
    at: z.iso.datetime(),
    domain: DomainName,
    signal: z.string(),
    kind: z.enum(['added', 'removed', 'changed']),
    before: z.array(z.string()),
    after: z.array(z.string()),
    observation_seq: Seq.describe('The observation that showed or confirmed the change.'),
    rotation: z
      .enum(['answer', 'set'])
      .optional()
      .describe(
        'Only of a name whose addresses rotate: a change of its learned `set` of values, networks or autonomous systems, or with `raw=1` of one `answer`.',
      ),
    owner_note: OwnerNote.optional().describe('Absent where no owner says anything.'),
  })
  .openapi('Delta');
