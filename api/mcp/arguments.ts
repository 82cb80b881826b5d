import { z } from '@hono/zod-openapi';
import { SIGNAL_TYPES } from '../../src/records/signal.ts';

/**
 * Arguments of the tools. They are texts and numbers as the doors take them in
 * a query: what they mean, and what is wrong with them, the door says.
 */

const Hostname = z.string().max(1_000).regex(/[^.]/, 'must be a hostname, such as example.com');
const Time = z.string().max(40);

export const domain = Hostname.describe(
  'The hostname, such as example.com or www.example.org. Unicode is taken too; no scheme, path or port.',
);
export const onlyDomain = Hostname.optional().describe('Only of this hostname.');
export const type = z
  .enum([...SIGNAL_TYPES, 'CERTIFICATE'])
  .optional()
  .describe('Only of this type. TLSA is of _443._tcp., DMARC is TXT at _dmarc., WWW_… is of www. before the hostname.');
export const words = z
  .string()
  .max(1_000)
  .optional()
  .describe('Only hostnames that have, for each of these words, a label that begins with it; all of them without it.');
export const asOf = Time.optional().describe(
  'As it stood at the end of this UTC day (2026-11-20), or at this time (2026-11-20T09:30:00Z). The newest without it.',
);
export const since = Time.optional().describe('From this UTC day (2026-11-01) or time (2026-11-01T09:30:00Z) on.');
export const until = Time.optional().describe('Up to the end of this UTC day, or to this time.');
export const order = z.enum(['newest', 'oldest']).optional().describe('Which come first; the newest unless told.');
export const limit = z
  .int()
  .min(1)
  .max(1_000)
  .optional()
  .describe('How many rows at most in this answer; 100 unless told.');
export const cursor = z
  .string()
  .max(4_000)
  .optional()
  .describe('Goes on where an answer ended: its next_cursor, with the other arguments as they were.');
