import { existsSync, readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';
import * as z from 'zod';
import { Fault } from './fault.ts';
import { shownAddress } from './publish/address.ts';
import { allowanceSettings, allowanceVariables } from './settings/allowance.ts';
import { folderSettings, folderVariables } from './settings/folders.ts';
import { checkMail, mailSettings, mailVariables } from './settings/mail.ts';
import { checkObjectStorage, objectStorageSettings, objectStorageVariables } from './settings/object-storage.ts';
import { checkPayments, paymentSettings, paymentVariables } from './settings/payments.ts';
import { scannerSettings, scannerVariables } from './settings/scanner.ts';
import { serviceSettings, serviceVariables } from './settings/services.ts';
import {
  checkTransparencyLogs,
  transparencyLogSettings,
  transparencyLogVariables,
} from './settings/transparency-logs.ts';
import { originAt } from './settings/variable.ts';
import { watchingSettings, watchingVariables } from './settings/watching.ts';
import { checkWebhooks, webhookSettings, webhookVariables } from './settings/webhooks.ts';

/** Variables that may contain a password; messages never show their values. */
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

/** Variables whose messages say what to do. */
const WITH_CURE = new Set(['LIBSQL_SYNC_URL', 'LIBSQL_AUTH_TOKEN', 'LOG_POLICY', 'HUB_URL']);

/** Every variable. An empty one counts as unset. `src/settings` documents each. */
const Environment = z
  .object({
    ...serviceVariables,
    ...folderVariables,
    ...transparencyLogVariables,
    ...watchingVariables,
    ...webhookVariables,
    ...objectStorageVariables,
    ...mailVariables,
    ...scannerVariables,
    ...allowanceVariables,
    ...paymentVariables,
  })
  .superRefine((env, context) => {
    checkMail(env, context);
    checkTransparencyLogs(env, context);
    checkWebhooks(env, context);
    checkObjectStorage(env, context);
    checkPayments(env, context);
  })
  .transform((env) => ({
    ...serviceSettings(env),
    ...folderSettings(env),
    ...transparencyLogSettings(env),
    ...watchingSettings(env),
    ...webhookSettings(env),
    ...objectStorageSettings(env),
    ...mailSettings(env),
    ...scannerSettings(env),
    ...allowanceSettings(env),
    ...paymentSettings(env),
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
    const line = `${name}=${SECRET.has(name) ? '…' : shownAddress(given[name] ?? '')}: ${message}`;
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
