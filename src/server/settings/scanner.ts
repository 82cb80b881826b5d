import * as z from 'zod';
import { parseServer } from '../../records/probe/dns/upstream.ts';
import { duration, file, list, networks } from './variable.ts';

/** How hostnames are probed, and by whom. */
export const scanner = z
  .object({
    /**
     * Resolvers for the scanner and for proofs of hosts, separated by commas, as `ip` or `ip:port` (`[ip]:port` for
     * IPv6). Defaults to the system's.
     */
    RESOLVERS: list().transform((entries, context) =>
      entries.map((entry) => {
        const server = parseServer(entry);
        if (server !== null) return server;
        context.addIssue('must be addresses such as 192.0.2.1:53 or [2001:db8::1]:53, separated by commas');
        return z.NEVER;
      }),
    ),
    /** Queries per second to each resolver. Defaults to 1,000, and to no limit for one on this machine. */
    RESOLVER_RATE: z.coerce
      .number('must be a number')
      .int('must be a whole number')
      .min(1, 'must be from 1 to 1000000')
      .max(1_000_000, 'must be from 1 to 1000000')
      .optional(),
    /** How often a hostname is probed. */
    SCAN_EVERY: duration('24h'),
    /** How many hostnames a scanner probes at once, each with some twenty queries; all are held in memory. */
    SCAN_AT_ONCE: z.coerce
      .number('must be a number')
      .int('must be a whole number')
      .min(1, 'must be from 1 to 10000')
      .max(10_000, 'must be from 1 to 10000')
      .default(96),
    /** Whether this process probes due hostnames while it serves the records; `off` leaves that to others. */
    SCANNER: z.enum(['on', 'off'], { error: 'must be on or off' }).default('on'),
    /** The key for `broadsheet scan --queue`: a key of level `scanner`, created on the machine that has the records. */
    SCANNER_KEY: z.string().trim().optional(),
    /** Private addresses or networks, separated by commas, whose certificates the scanner may probe. */
    TLS_PRIVATE: networks(),
    /** A local table of prefixes and the autonomous systems that originate them; read when a process starts. */
    AS_TABLE: file().optional(),
  })
  .transform((env) => ({
    resolvers: env.RESOLVERS,
    resolverRate: env.RESOLVER_RATE,
    scanEvery: env.SCAN_EVERY,
    scanAtOnce: env.SCAN_AT_ONCE,
    scanner: env.SCANNER === 'on',
    scannerKey: env.SCANNER_KEY,
    tlsPrivate: env.TLS_PRIVATE,
    asTable: env.AS_TABLE,
  }));
