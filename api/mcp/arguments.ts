import { z } from '@hono/zod-openapi';
import { SIGNAL_TYPES } from '../../src/records/signal.ts';

/** Arguments of the tools. They are passed to the query unchanged; the route validates them and reports problems. */

const Hostname = z.string().max(1_000).regex(/[^.]/, 'must be a hostname, such as example.com');
const Time = z.string().max(40);

export const domain = Hostname.describe(
  'The hostname, such as example.com or www.example.org. Unicode is allowed; no scheme, path or port.',
);
export const onlyDomain = Hostname.optional().describe('Only this hostname.');
export const type = z
  .enum([...SIGNAL_TYPES, 'CERTIFICATE'])
  .optional()
  .describe(
    'Only this type. TLSA is queried at _443._tcp., DMARC is TXT at _dmarc., WWW_… is at www. in front of the hostname.',
  );
export const words = z
  .string()
  .max(1_000)
  .optional()
  .describe('Only hostnames in which each of these words is the start of a label; all hostnames without it.');
export const asOf = Time.optional().describe(
  'As of the end of this UTC day (2026-11-20), or as of this time (2026-11-20T09:30:00Z). The latest without it.',
);
export const pay = z
  .boolean()
  .optional()
  .describe('true asks for the price instead of a preview, to be paid with x402. Without effect beside a key.');
export const since = Time.optional().describe('From this UTC day (2026-11-01) or time (2026-11-01T09:30:00Z).');
export const until = Time.optional().describe('Until the end of this UTC day, or until this time.');
export const order = z.enum(['newest', 'oldest']).optional().describe('Which come first; newest by default.');
export const limit = z
  .int()
  .min(1)
  .max(1_000)
  .optional()
  .describe('Maximum number of rows in this response; 100 by default.');
export const cursor = z
  .string()
  .max(4_000)
  .optional()
  .describe('next_cursor of the previous response; keep the other arguments unchanged.');
