import { existsSync, readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { resolve } from 'node:path';
import { parseEnv } from 'node:util';
import * as z from 'zod';
import { Fault, messageOf } from './fault.ts';
import { readOwnLogPolicy } from './files/log-policy.ts';
import { isLogOrigin } from './ledger/log/checkpoint.ts';
import { NETWORKS, networkOf } from './meter/networks.ts';
import { paidLane, paymentSettingMissing } from './meter/payment-settings.ts';
import { parsePrices } from './meter/prices.ts';
import { isOneOf } from './narrow.ts';
import { webhookProblem } from './outbound/webhook-url.ts';
import { parseAddress } from './publish/address.ts';
import { parseServer } from './records/dns/server.ts';
import { DAY, HOUR, MINUTE } from './time.ts';

const origin = () =>
  z
    .url({ protocol: /^https?$/, error: 'must be an http or https address' })
    .refine((url) => /^https?:\/\/[^/?#]+\/?$/.test(url), 'must be a scheme and a host alone, without a path')
    .transform((url) => url.replace(/\/+$/, ''))
    .optional();
const port = () => z.coerce.number('must be a port number').int().min(0).max(65_535).optional();

/** The default ports of the two services. */
export const DESK_PORT = 4321;
const RECORDS_PORT = 4322;

/** Listening addresses that users of this machine reach as `localhost`. */
const LOCAL = new Set(['127.0.0.1', 'localhost', '0.0.0.0', '::']);

/** The URL of a service on a host and a port, for users of this machine. */
function originAt(host: string, port: number): string {
  const name = LOCAL.has(host) ? 'localhost' : host;
  return `http://${name.includes(':') ? `[${name}]` : name}${port === 80 ? '' : `:${port}`}`;
}
const folder = (fallback: string) =>
  z
    .string()
    .min(1)
    .default(fallback)
    .transform((path) => resolve(path));

const logOrigin = () =>
  z
    .string()
    .refine(isLogOrigin, 'must be a name such as papers.example/log: no scheme, no blank, no +, at most 255 bytes')
    .optional();

/** Whether a text is an IP address, or a network in CIDR notation. */
function isNetwork(text: string): boolean {
  const [address = '', bits, more] = text.split('/');
  const family = isIP(address);
  if (family === 0 || more !== undefined) return false;
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (family === 6 ? 128 : 32));
}

/** Settings that may contain a password; messages never show their values. */
const SECRET = new Set([
  'AWS_SECRET_ACCESS_KEY',
  'AWS_SESSION_TOKEN',
  'SMTP_URL',
  'LIBSQL_SYNC_URL',
  'LIBSQL_AUTH_TOKEN',
  'SCANNER_KEY',
  'X402_FACILITATOR_URL',
  'X402_RPC_URL',
]);

const networks = () =>
  list().refine(
    (entries) => entries.every(isNetwork),
    'must be addresses or networks such as 10.0.0.0/8, separated by commas',
  );

/** A comma-separated list. */
function list() {
  return z
    .string()
    .default('')
    .transform((text) =>
      text
        .split(',')
        .map((entry) => entry.trim())
        .filter((entry) => entry !== ''),
    );
}

/** A duration such as `90s`, `15m`, `24h` or `7d`, in ms; from `least` seconds to one year. */
const duration = (fallback: string, least = 1) =>
  z
    .string()
    .default(fallback)
    .transform((text) => {
      const [, count, unit] = /^(\d{1,8})([smhd])$/.exec(text) ?? [];
      return Number(count ?? Number.NaN) * ({ s: 1_000, m: MINUTE, h: HOUR, d: DAY }[unit ?? ''] ?? 0);
    })
    .refine(
      (ms) => ms >= least * 1_000 && ms <= 365 * DAY,
      `must be a duration such as 90s, 15m, 24h or 7d, from ${least}s to 365d`,
    );

const count = (fallback: number) =>
  z.coerce.number('must be a number').int('must be a whole number').min(0, 'must not be negative').default(fallback);

const chainAddress = () => z.string().regex(/^0x[0-9a-fA-F]{40}$/, 'must be 0x and 40 hex digits');

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
  if (
    !z
      .url({ protocol: /^https$/, hostname: /./ })
      .max(2_048)
      .safeParse(text).success
  )
    return null;
  const { href, username, password } = new URL(text);
  return username === '' && password === '' ? { url: href, text: href } : null;
}

/** A setting that is no longer supported. `error` says what to do instead. */
const withdrawn = (error: string) =>
  z.undefined({ error: `${error}; unset it in the environment or in .env` }).optional();

/** Variables whose messages say what to do. */
const WITH_CURE = new Set(['LIBSQL_SYNC_URL', 'LIBSQL_AUTH_TOKEN', 'LOG_POLICY', 'HUB_URL']);

/** What addresses of object storage may leave out. */
function storageDefaults(
  env: Partial<Record<'AWS_REGION' | 'AWS_ENDPOINT_URL_S3' | 'AWS_ENDPOINT_URL', string | undefined>>,
) {
  return { region: env.AWS_REGION, endpoint: env.AWS_ENDPOINT_URL_S3 ?? env.AWS_ENDPOINT_URL };
}

/** The services that a process can run. */
const SERVICES = ['desk', 'records'] as const;

/** Every setting, with its documentation. An empty variable counts as unset. */
const Environment = z
  .object({
    /**
     * Public address of the news desk; papers without their own domain are served under it. Defaults to HOST and PORT.
     */
    ORIGIN: origin(),
    /** Address to listen on. */
    HOST: z
      .string()
      .default('127.0.0.1')
      .refine((host) => URL.canParse(originAt(host, 1)), 'must be an address or a name of this machine'),
    /** Port of the news desk; 0 picks a free one, which is printed. */
    PORT: port(),
    /** Public address of the domain-records service. Defaults to HOST and RECORDS_PORT. */
    DATA_ORIGIN: origin(),
    /** Port of the domain records; 0 picks a free one, which is printed. */
    RECORDS_PORT: port(),
    /** The services that this process runs, separated by commas: `desk`, `records`. */
    SERVICES: z
      .string()
      .default('desk,records')
      .transform((text) => text.split(',').map((name) => name.trim()))
      .refine(
        (names) => names.every((name) => isOneOf(SERVICES, name)),
        'must be desk, records, or both separated by a comma',
      ),
    /** The folder of the database, the signing key, the media and the outbox. Back it up. */
    DATA_DIR: folder('var'),
    /** What `broadsheet file` files: one folder per paper. */
    CONTENT_DIR: folder('content'),
    /** Where papers are pressed: one folder per paper, each ready for a CDN. */
    DIST_DIR: folder('dist/papers'),
    /** Where the transparency logs are published: `desk` and `records` in it, each ready for a CDN. */
    LOG_DIR: folder('dist/log'),
    /**
     * The name of the desk's transparency log, under which its checkpoints are signed. Defaults to the name in its key
     * file, and for a new log to the host of ORIGIN, with its port, and `/log`.
     */
    LOG_ORIGIN: logOrigin(),
    /** The name of the records' transparency log; the host of DATA_ORIGIN likewise. */
    RECORDS_LOG_ORIGIN: logOrigin(),
    /**
     * A file that names the logs' witnesses and their quorum, in the format of C2SP tlog-policy. Without it there are
     * no witnesses.
     */
    LOG_POLICY: z
      .string()
      .transform((path) => resolve(path))
      .superRefine((path, context) => {
        try {
          readOwnLogPolicy(path);
        } catch (error) {
          context.addIssue(`${messageOf(error)}; correct the file, or name another in the environment or in .env`);
        }
      })
      .optional(),
    /** Port of `/metrics`, in the text format of Prometheus; 0 picks a free one. Without it there are no metrics. */
    METRICS_PORT: port(),
    /** Address on which `/metrics` listens: this machine, unless another one scrapes it over a private network. */
    METRICS_HOST: z
      .string()
      .default('127.0.0.1')
      .refine((host) => URL.canParse(originAt(host, 1)), 'must be an address or a name of this machine'),
    /**
     * How long a stopping server goes on answering while `/ready` says 503, so that load balancers send requests
     * elsewhere before it closes its port. Zero without one in front.
     */
    SHUTDOWN_GRACE: duration('0s', 0),
    /**
     * Formerly a libSQL server to replicate. Setting it prevents the start, because a node configured as a replica must
     * not serve a database of its own.
     */
    LIBSQL_SYNC_URL: withdrawn('replicas of a libSQL server are not supported'),
    LIBSQL_AUTH_TOKEN: withdrawn('replicas of a libSQL server are not supported'),
    /**
     * Addresses or networks of reverse proxies whose X-Forwarded-For is trusted, separated by commas. An unlisted proxy
     * on this machine defeats every limit by address.
     */
    TRUSTED_PROXIES: networks(),
    /**
     * `allow` permits webhooks over plain http and to private addresses: for tests, and for receivers on the desk's own
     * network.
     */
    WEBHOOK_PRIVATE: z.enum(['allow', 'refuse'], { error: 'must be allow or refuse' }).default('refuse'),
    /**
     * A WebSub hub: feeds name it, and it is told which feeds of public papers a press changed. It must be a public
     * https address, unless WEBHOOK_PRIVATE is `allow`.
     */
    HUB_URL: z.string().optional(),
    /**
     * Where to publish after each press: `s3://BUCKET/PREFIX?endpoint=…&region=…`, or a folder. With `paper=SLUG` after
     * the `?`, only that paper is published, at the address itself.
     */
    PUBLISH_URL: z.string().optional(),
    /**
     * A place in a bucket, or a folder, that decides which of several servers of the same desk signs:
     * `s3://BUCKET/PREFIX?endpoint=…`. The others serve what they have, and sign nothing.
     */
    LEASE_URL: z.string().optional(),
    /** How long a server that is silent keeps the right to sign. */
    LEASE_TIME: duration('30s'),
    /** Credentials for object storage. Messages never show them. */
    AWS_ACCESS_KEY_ID: z.string().trim().optional(),
    AWS_SECRET_ACCESS_KEY: z.string().trim().optional(),
    AWS_SESSION_TOKEN: z.string().trim().optional(),
    /** The region and the endpoint of object storage, where an address names none. */
    AWS_REGION: z.string().trim().optional(),
    AWS_ENDPOINT_URL_S3: z.string().trim().optional(),
    AWS_ENDPOINT_URL: z.string().trim().optional(),
    /**
     * The mail server: `smtps://user:password@host` or `smtp://host:port`. Certificates are verified; a password is
     * sent over TLS only. Without one, mails are written as files to the outbox folder of DATA_DIR.
     */
    SMTP_URL: z.url({ protocol: /^smtps?$/, hostname: /./, error: 'must be an smtp or smtps address' }).optional(),
    /** The sender address of mails; replies go to the paper's `contact`. Required with SMTP_URL. */
    MAIL_FROM: z.email({ error: 'must be a mail address, without a name' }).optional(),
    /** The most mails per minute; 0 for no limit. */
    MAILS_PER_MINUTE: count(600),
    /**
     * The RSA key in PEM that signs mails (DKIM), and its selector; the domain is that of MAIL_FROM. Both or neither.
     */
    DKIM_KEY_FILE: z
      .string()
      .transform((path) => resolve(path))
      .optional(),
    DKIM_SELECTOR: z
      .string()
      .regex(/^[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?$/i, 'must be a selector, such as 2026a')
      .optional(),
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
    /** Whether this process probes due hostnames while it serves the records; `off` leaves that to others. */
    SCANNER: z.enum(['on', 'off'], { error: 'must be on or off' }).default('on'),
    /** The key for `broadsheet scan --queue`: a key of level `scanner`, created on the machine that has the records. */
    SCANNER_KEY: z.string().trim().optional(),
    /** Private addresses or networks, separated by commas, whose certificates the scanner may probe. */
    TLS_PRIVATE: networks(),
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
    /** Requests per clock minute for each key of an account. */
    KEYED_PER_MINUTE: count(100),
    /**
     * The x402 facilitator that verifies and settles payments. Without it, the paid lane is closed. Set this and the
     * next three, or none of them.
     */
    X402_FACILITATOR_URL: z.url({ protocol: /^https?$/, error: 'must be an http or https address' }).optional(),
    /**
     * The payee's address on the chain. Use it for the records only: every payment to it counts as a payment for them.
     */
    X402_PAY_TO: chainAddress().optional(),
    /** The network: `base` or `base-sepolia`. */
    X402_NETWORK: z
      .string()
      .transform((text, context) => {
        const network = networkOf(text);
        if (network !== null) return network;
        context.addIssue(`must be one of ${NETWORKS.map(({ name }) => name).join(', ')}`);
        return z.NEVER;
      })
      .optional(),
    /** The contract of the payment token, which must support EIP-3009, as USDC does. */
    X402_ASSET: chainAddress().optional(),
    /** The name and version of the token's EIP-712 domain. Not needed for USDC. */
    X402_ASSET_NAME: z.string().max(100).optional(),
    X402_ASSET_VERSION: z.string().max(20).optional(),
    /**
     * Prices by a route's path, separated by commas, in atomic units of the token (for USDC, millionths of a dollar):
     * `/v1/domains/{domain}=1000,*=5000`. Other routes keep their default, or the price of `*`.
     */
    X402_PRICES: list().transform((entries, context) => {
      const prices = parsePrices(entries);
      if (prices !== null) return prices;
      context.addIssue('must be path=units entries separated by commas, units from 1 to 1000000000');
      return z.NEVER;
    }),
    /**
     * A node of the chain. With it, the server looks up settlements with an unknown outcome, and detects a facilitator
     * that falsely reports a payment as settled. Without it, credits are not sold, and a payment whose settlement was
     * interrupted is not served once its nonce is used: nobody can tell whether it was paid or cancelled.
     */
    X402_RPC_URL: z.url({ protocol: /^https?$/, error: 'must be an http or https address' }).optional(),
    /**
     * Whether `astro build` also files `content/` and presses; `off` where a starting server does both in the
     * background.
     */
    BUILD_PRESSES: z.enum(['on', 'off'], { error: 'must be on or off' }).default('on'),
    /** The log level. */
    LOG_LEVEL: z
      .enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'], {
        error: 'must be fatal, error, warn, info, debug, trace or silent',
      })
      .default('info'),
  })
  .refine((env) => env.SMTP_URL === undefined || env.MAIL_FROM !== undefined, {
    path: ['MAIL_FROM'],
    error: 'must be set when SMTP_URL is set',
  })
  .refine((env) => (env.DKIM_KEY_FILE === undefined) === (env.DKIM_SELECTOR === undefined), {
    path: ['DKIM_SELECTOR'],
    error: 'must be set together with DKIM_KEY_FILE',
  })
  .refine((env) => env.LOG_ORIGIN === undefined || env.LOG_ORIGIN !== env.RECORDS_LOG_ORIGIN, {
    path: ['RECORDS_LOG_ORIGIN'],
    error: 'must not be the name of the other log, LOG_ORIGIN',
  })
  .superRefine((env, context) => {
    const problem = env.HUB_URL === undefined ? null : webhookProblem(env.HUB_URL, env.WEBHOOK_PRIVATE === 'allow');
    if (problem !== null) {
      const message = `${problem}; give the address of a WebSub hub, such as https://pubsubhubbub.appspot.com/`;
      context.addIssue({ code: 'custom', path: ['HUB_URL'], message });
    }
  })
  .superRefine((env, context) => {
    const address = env.PUBLISH_URL === undefined ? null : parseAddress(env.PUBLISH_URL, storageDefaults(env));
    if (typeof address === 'string') context.addIssue({ code: 'custom', path: ['PUBLISH_URL'], message: address });
  })
  .superRefine((env, context) => {
    const address = env.LEASE_URL === undefined ? null : parseAddress(env.LEASE_URL, storageDefaults(env));
    if (typeof address === 'string') context.addIssue({ code: 'custom', path: ['LEASE_URL'], message: address });
  })
  .superRefine((env, context) => {
    const missing = paymentSettingMissing(env);
    if (missing !== null) context.addIssue({ code: 'custom', path: [missing.name], message: missing.message });
  })
  .transform((env) => ({
    origin: env.ORIGIN ?? originAt(env.HOST, env.PORT || DESK_PORT),
    host: env.HOST,
    port: env.PORT ?? DESK_PORT,
    dataOrigin: env.DATA_ORIGIN ?? originAt(env.HOST, env.RECORDS_PORT || RECORDS_PORT),
    recordsPort: env.RECORDS_PORT ?? RECORDS_PORT,
    /**
     * True when neither variable sets the origin: then the address of a server that listens now, or listened last, is
     * used.
     */
    assumed: { origin: !(env.ORIGIN || env.PORT), dataOrigin: !(env.DATA_ORIGIN || env.RECORDS_PORT) },
    services: { desk: env.SERVICES.includes('desk'), records: env.SERVICES.includes('records') },
    dataDir: env.DATA_DIR,
    contentDir: env.CONTENT_DIR,
    distDir: env.DIST_DIR,
    logDir: env.LOG_DIR,
    /** The names of the transparency logs; null where no variable says one. `newLogOrigin` gives the default. */
    logOrigins: { desk: env.LOG_ORIGIN ?? null, records: env.RECORDS_LOG_ORIGIN ?? null },
    /** The policy file; null without witnesses. */
    logPolicy: env.LOG_POLICY ?? null,
    trustedProxies: env.TRUSTED_PROXIES,
    webhookPrivate: env.WEBHOOK_PRIVATE === 'allow',
    /** Where to publish after each press; null without an address. */
    publishUrl: env.PUBLISH_URL ?? null,
    /** What decides which server signs; null when this one is alone. */
    leaseUrl: env.LEASE_URL ?? null,
    leaseTime: env.LEASE_TIME,
    objectStorage: {
      ...storageDefaults(env),
      accessKeyId: env.AWS_ACCESS_KEY_ID,
      secretAccessKey: env.AWS_SECRET_ACCESS_KEY,
      sessionToken: env.AWS_SESSION_TOKEN,
    },
    /** The WebSub hub; null without one. */
    hubUrl: env.HUB_URL === undefined ? null : new URL(env.HUB_URL).href,
    smtpUrl: env.SMTP_URL,
    mailFrom: env.MAIL_FROM,
    mailsPerMinute: env.MAILS_PER_MINUTE === 0 ? null : env.MAILS_PER_MINUTE,
    dkim:
      env.DKIM_KEY_FILE === undefined || env.DKIM_SELECTOR === undefined
        ? null
        : { keyFile: env.DKIM_KEY_FILE, selector: env.DKIM_SELECTOR },
    resolvers: env.RESOLVERS,
    resolverRate: env.RESOLVER_RATE,
    scanEvery: env.SCAN_EVERY,
    scanner: env.SCANNER === 'on',
    scannerKey: env.SCANNER_KEY,
    tlsPrivate: env.TLS_PRIVATE,
    keylessDaily: env.KEYLESS_DAILY,
    keyedDaily: env.KEYED_DAILY,
    watchCaps: { daily: env.WATCH_DAILY, monthly: env.WATCH_MONTHLY },
    contact: env.CONTACT ?? null,
    keyedPerMinute: env.KEYED_PER_MINUTE,
    x402: paidLane(env),
    buildPresses: env.BUILD_PRESSES === 'on',
    logLevel: env.LOG_LEVEL,
    /** Where `/metrics` listens; null without metrics. */
    metrics: env.METRICS_PORT === undefined ? null : { host: env.METRICS_HOST, port: env.METRICS_PORT },
    shutdownGrace: env.SHUTDOWN_GRACE,
  }));

export type Settings = z.infer<typeof Environment>;

/** The names of the settings that are set. */
export function settingNames(env: NodeJS.ProcessEnv = process.env): string[] {
  return Object.keys(Environment.in.shape).filter((name) => (env[name] ?? '') !== '');
}

/** The variables of this process that come from `.env`. Those of the environment itself take precedence. */
let fromFile = new Map<string, string>();

/**
 * Reads the settings from the environment and from `.env`, which is read again each time. Throws `invalid_request`
 * naming the variables; then the environment stays as it was.
 */
export function readSettings(env: NodeJS.ProcessEnv = process.env): Settings {
  return env === process.env ? readSettingsAgain().settings : parseSettings(env);
}

/** The same for this process, with the names of the variables in `.env` that changed since they were read last. */
export function readSettingsAgain(): { settings: Settings; changed: string[] } {
  const { env } = process;
  const file = existsSync('.env') ? parseEnv(readFileSync('.env', 'utf8')) : {};
  const isOwn = (name: string) => env[name] !== undefined && !fromFile.has(name);
  const now = new Map(Object.entries(file).flatMap(([name, value = '']) => (isOwn(name) ? [] : [[name, value]])));
  const before = fromFile;
  const rest = Object.entries(env).filter(([name]) => !before.has(name));
  const settings = parseSettings({ ...Object.fromEntries(rest), ...Object.fromEntries(now) });
  // Child processes inherit them.
  for (const name of before.keys()) delete env[name];
  for (const [name, value] of now) env[name] = value;
  fromFile = now;
  const names = [...new Set([...before.keys(), ...now.keys()])].sort();
  return { settings, changed: names.filter((name) => before.get(name) !== now.get(name)) };
}

function parseSettings(env: NodeJS.ProcessEnv): Settings {
  const given = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ''));
  const parsed = Environment.safeParse(given);
  if (parsed.success) return parsed.data;
  // One message per variable, even if it violates several rules.
  const problems = new Map<string, string>();
  for (const { path, message } of parsed.error.issues) {
    const name = String(path[0]);
    const line = `${name}=${SECRET.has(name) ? '…' : (given[name] ?? '')}: ${message}`;
    if (!problems.has(name)) problems.set(name, line);
  }
  const rest = [...problems.keys()].filter((name) => !WITH_CURE.has(name));
  const them = rest.length < problems.size ? rest.join(' and ') : rest.length === 1 ? 'it' : 'them';
  const cure = `correct ${them} in the environment or in .env`;
  throw new Fault('invalid_request', [...problems.values(), ...(rest.length > 0 ? [cure] : [])].join('; '));
}

/** The settings of a server that listens on these ports. Origins that no variable sets follow from the ports. */
export function listeningOn(settings: Settings, ports: { desk?: number; records?: number }): Settings {
  const { host, assumed } = settings;
  const { desk = settings.port, records = settings.recordsPort } = ports;
  return {
    ...settings,
    ...(assumed.origin && desk !== 0 ? { origin: originAt(host, desk) } : {}),
    ...(assumed.dataOrigin && records !== 0 ? { dataOrigin: originAt(host, records) } : {}),
  };
}

/** This process's environment with some variables added, for a child process. */
export function environmentWith(more: Record<string, string>): NodeJS.ProcessEnv {
  return { ...process.env, ...more };
}
