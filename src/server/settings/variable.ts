import { isIP } from 'node:net';
import { resolve } from 'node:path';
import * as z from 'zod';
import { DAY, HOUR, MINUTE } from '../../proof/time.ts';

/** A scheme and a host, without a path. */
export const origin = () =>
  z
    .url({ protocol: /^https?$/, error: 'must be an http or https address' })
    .refine((url) => /^https?:\/\/[^/?#]+\/?$/.test(url), 'must be a scheme and a host alone, without a path')
    .transform((url) => url.replace(/\/+$/, ''))
    .optional();

/** An address to listen on. Defaults to this machine alone. */
export const host = () =>
  z
    .string()
    .default('127.0.0.1')
    .refine((name) => URL.canParse(originAt(name, 1)), 'must be a local address or name');

export const port = () => z.coerce.number('must be a port number').int().min(0).max(65_535).optional();

/** Listening addresses that users of this machine reach as `localhost`. */
const LOCAL = new Set(['127.0.0.1', 'localhost', '0.0.0.0', '::']);

/** The URL of a service on a host and a port, for users of this machine. */
export function originAt(host: string, port: number): string {
  const name = LOCAL.has(host) ? 'localhost' : host;
  return `http://${name.includes(':') ? `[${name}]` : name}${port === 80 ? '' : `:${port}`}`;
}

/** The absolute path of a folder. */
export const folder = (fallback: string) =>
  z
    .string()
    .min(1)
    .default(fallback)
    .transform((path) => resolve(path));

/** The absolute path of a file. */
export const file = () => z.string().transform((path) => resolve(path));

/** A comma-separated list. */
export const list = () =>
  z
    .string()
    .default('')
    .transform((text) =>
      text
        .split(',')
        .map((entry) => entry.trim())
        .filter((entry) => entry !== ''),
    );

export const networks = () =>
  list().refine(
    (entries) => entries.every(isNetwork),
    'must be addresses or networks such as 10.0.0.0/8, separated by commas',
  );

/** Whether a text is an IP address, or a network in CIDR notation. */
function isNetwork(text: string): boolean {
  const [address = '', bits, more] = text.split('/');
  const family = isIP(address);
  if (family === 0 || more !== undefined) return false;
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (family === 6 ? 128 : 32));
}

/**
 * A duration such as `90s`, `15m`, `24h` or `7d`, in ms; from `least` seconds to `most` days. Node's timers last 24
 * days at most: a longer one fires at once.
 */
export const duration = (fallback: string, least = 1, most = 365) =>
  z
    .string()
    .default(fallback)
    .transform((text) => {
      const [, count, unit] = /^(\d{1,8})([smhd])$/.exec(text) ?? [];
      return Number(count ?? Number.NaN) * ({ s: 1_000, m: MINUTE, h: HOUR, d: DAY }[unit ?? ''] ?? 0);
    })
    .refine(
      (ms) => ms >= least * 1_000 && ms <= most * DAY,
      `must be a duration such as 90s, 15m, 24h or 7d, from ${least}s to ${most}d`,
    );

export const count = (fallback: number) =>
  z.coerce.number('must be a number').int('must be a whole number').min(0, 'must not be negative').default(fallback);

/** Refuses the value of one variable because of what another one says. */
export function refuse(context: z.RefinementCtx, name: string, message: string): void {
  context.addIssue({ code: 'custom', path: [name], message });
}
