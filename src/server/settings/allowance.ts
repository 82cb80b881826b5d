import * as z from 'zod';
import { count } from './variable.ts';

/**
 * What callers of the domain records get without paying, and how to reach the operator. A plan that an account buys
 * raises the limits of keyed requests, streams, exports and watched hostnames.
 */
export const allowance = z
  .object({
    /**
     * Keyless lookups per UTC day, for all callers together. Every admitted lookup counts, whatever its answer. Above
     * the limit, keyless access is closed until the next day.
     */
    KEYLESS_DAILY: count(5_000),
    /**
     * Included requests per account and UTC day. The legacy monthly plan includes this number for each day of the
     * month.
     */
    KEYED_DAILY: count(1_000),
    /** Requests per clock minute for each key of an account. */
    KEYED_PER_MINUTE: count(100),
    /** Streams that an account may have open. */
    KEYED_STREAMS: count(10),
    /** Exports per account and UTC day. Each is one of the included requests, too. */
    KEYED_EXPORTS: count(1_000),
    /** Hostnames that an account may watch in its groups, on the daily and on the monthly plan. */
    WATCH_DAILY: count(25),
    WATCH_MONTHLY: count(100),
    /**
     * How to reach the operator of the domain records, about opting out and credits: a mail address or an https
     * address. Shown on every page.
     */
    CONTACT: z
      .string()
      .trim()
      .transform((text, context) => {
        const contact = contactOf(text);
        if (contact !== null) return contact;
        context.addIssue('must be a mail address, such as records@example.org, or an https address');
        return z.NEVER;
      })
      .optional(),
  })
  .transform((env) => ({
    keylessDaily: env.KEYLESS_DAILY,
    keyedDaily: env.KEYED_DAILY,
    keyedPerMinute: env.KEYED_PER_MINUTE,
    keyedStreams: env.KEYED_STREAMS,
    keyedExports: env.KEYED_EXPORTS,
    watchCaps: { daily: env.WATCH_DAILY, monthly: env.WATCH_MONTHLY },
    contact: env.CONTACT ?? null,
  }));

/** A contact: a link and its text. */
export interface Contact {
  url: string;
  text: string;
}

/** Parses a mail address or an https address; null for anything else. */
function contactOf(text: string): Contact | null {
  if (z.email().max(254).safeParse(text).success) {
    const [local = '', host = ''] = text.split('@');
    return { url: `mailto:${encodeURIComponent(local)}@${host}`, text };
  }
  const isHttps = z
    .url({ protocol: /^https$/, hostname: /./ })
    .max(2_048)
    .safeParse(text).success;
  if (!isHttps) return null;
  const { href, username, password } = new URL(text);
  return username === '' && password === '' ? { url: href, text: href } : null;
}
