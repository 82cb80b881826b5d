import { isUtf8 } from 'node:buffer';
import { readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';
import type * as z from 'zod';
import { codeOf, Fault, messageOf } from '../shared/fault.ts';
import { shownAddress } from '../shared/storage/address.ts';
import { allowance } from './settings/allowance.ts';
import { folders } from './settings/folders.ts';
import { mail } from './settings/mail.ts';
import { newsroom } from './settings/newsroom.ts';
import { nodes } from './settings/nodes.ts';
import { objectStorage } from './settings/object-storage.ts';
import { payments } from './settings/payments.ts';
import { scanner } from './settings/scanner.ts';
import { services } from './settings/services.ts';
import { transparencyLogs } from './settings/transparency-logs.ts';
import { originAt } from './settings/variable.ts';
import { watching } from './settings/watching.ts';
import { webhooks } from './settings/webhooks.ts';

/** Variables that may contain a password; messages never show their values. */
const SECRET = new Set([
  'AWS_SECRET_ACCESS_KEY',
  'AWS_SESSION_TOKEN',
  'ARCHIVE_SEEDS_SECRET_ACCESS_KEY',
  'SMTP_URL',
  'LIBSQL_SYNC_URL',
  'LIBSQL_AUTH_TOKEN',
  'SCANNER_KEY',
  'X402_FACILITATOR_URL',
  'X402_RPC_URL',
]);

/** Variables whose messages say what to do. */
const WITH_CURE = new Set(['LIBSQL_SYNC_URL', 'LIBSQL_AUTH_TOKEN', 'LOG_POLICY', 'HUB_URL']);

/** Every variable, by subject, and the settings that follow from it. An empty variable counts as unset. */
const SUBJECTS = [
  services,
  folders,
  transparencyLogs,
  watching,
  webhooks,
  newsroom,
  objectStorage,
  mail,
  scanner,
  nodes,
  allowance,
  payments,
];

type Intersection<Union> = (Union extends unknown ? (one: Union) => void : never) extends (all: infer All) => void
  ? All
  : never;
export type Settings = Intersection<z.output<(typeof SUBJECTS)[number]>>;

/** The names of the settings that are set. */
export function settingNames(env: NodeJS.ProcessEnv = process.env): string[] {
  const names = SUBJECTS.flatMap((subject) => Object.keys(subject.in.shape));
  return names.filter((name) => (env[name] ?? '') !== '');
}

/** The variables in force that come from `.env`. Those of the environment itself take precedence. */
const fromFile = new Map<string, string>();

/** The settings of the environment and of `.env`, which are not in force yet. */
export interface SettingsRead {
  settings: Settings;
  /** The names of the variables in `.env` that differ from those in force. */
  changed: string[];
  /** Puts all changed variables in force, or those named, also for child processes. */
  takeOver(names?: readonly string[]): void;
}

/**
 * Reads the settings from the environment and from `.env`, which is read again each time. Throws `invalid_request`
 * naming the variables; then the environment stays as it was.
 */
export function readSettings(env: NodeJS.ProcessEnv = process.env): Settings {
  if (env !== process.env) return parseSettings(env);
  const read = compared(readEnvFile('.env'));
  read.takeOver();
  return read.settings;
}

/**
 * Reads the settings of this process again, and changes nothing until they are taken over. Throws as `readSettings`
 * does, and when a `.env` that had settings is gone or has none: it may be on its way.
 */
export function readSettingsAgain(): SettingsRead {
  const file = readEnvFile('.env');
  const isEmpty = file === null || file.size === 0;
  if (isEmpty && fromFile.size > 0) {
    const state = file === null ? '.env is gone' : '.env has no settings any more';
    throw new Fault('invalid_request', `${state}; write it again, or restart without it`);
  }
  return compared(file);
}

function compared(file: Map<string, string> | null): SettingsRead {
  const { env } = process;
  const isOwn = (name: string) => env[name] !== undefined && !fromFile.has(name);
  const now = new Map([...(file ?? [])].filter(([name]) => !isOwn(name)));
  const own = Object.entries(env).filter(([name]) => !fromFile.has(name));
  const settings = parseSettings({ ...Object.fromEntries(own), ...Object.fromEntries(now) });
  const names = [...new Set([...fromFile.keys(), ...now.keys()])].sort();
  const changed = names.filter((name) => fromFile.get(name) !== now.get(name));
  return {
    settings,
    changed,
    takeOver(taken = changed) {
      for (const name of taken) {
        const value = now.get(name);
        if (value === undefined) {
          fromFile.delete(name);
          delete env[name];
        } else {
          fromFile.set(name, value);
          env[name] = value;
        }
      }
    },
  };
}

function parseSettings(env: NodeJS.ProcessEnv): Settings {
  const given = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ''));
  const parsed = SUBJECTS.map((subject) => subject.safeParse(given));
  const issues = parsed.flatMap(({ error }) => error?.issues ?? []);
  if (issues.length === 0) return Object.assign({}, ...parsed.map(({ data }) => data));
  // One message per variable, even if it violates several rules.
  const problems = new Map<string, string>();
  for (const { path, message } of issues) {
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

/** Sets a variable of this process and of its children, over what `.env` says now and later. */
export function setVariable(name: string, value: string): void {
  fromFile.delete(name);
  process.env[name] = value;
}

/** This process's environment with some variables added, for a child process. */
export function environmentWith(more: Record<string, string>): NodeJS.ProcessEnv {
  return { ...process.env, ...more };
}

/**
 * The variables of a file such as `.env`, by name; null when there is no such file. Throws `invalid_request` naming the
 * file and the line when it is not text, such as a file still being written.
 */
export function readEnvFile(file: string): Map<string, string> | null {
  let bytes: Buffer;
  try {
    bytes = readFileSync(file);
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null;
    throw new Fault('invalid_request', `${file} cannot be read: ${messageOf(error)}; let this user read it`);
  }
  const lines = bytes.toString('latin1').split('\n');
  const at = (isOdd: (line: string) => boolean) => `${file}, line ${lines.findIndex(isOdd) + 1}`;
  if (!isUtf8(bytes)) {
    const odd = at((line) => !isUtf8(Buffer.from(line, 'latin1')));
    throw new Fault('invalid_request', `${odd}: not UTF-8; save the file as UTF-8`);
  }
  if (bytes.includes(0)) {
    const odd = at((line) => line.includes('\0'));
    throw new Fault('invalid_request', `${odd}: has a zero byte; write the file again`);
  }
  // A byte order mark is not part of the first name.
  const text = bytes.toString('utf8').replace(/^\ufeff/, '');
  return new Map(Object.entries(parseEnv(text)).map(([name, value = '']) => [name, value]));
}
