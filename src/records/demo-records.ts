import { join } from 'node:path';
import { dayOf } from '../proof/time.ts';
import type { AppContext } from '../server/context.ts';
import type { Settings } from '../server/env.ts';
import { CLI } from '../shared/command-line.ts';
import { newId } from '../shared/new-id.ts';
import { shownAddress } from '../shared/storage/address.ts';
import { makeAlert } from './accounts/change-alert.ts';
import { makeServiceKey } from './accounts/service-key.ts';
import { parseHostname } from './hostname.ts';
import { DEMO_NAMES, HIJACK } from './probe/demo-zone.ts';
import { requireWatched } from './require-host.ts';

/** The demonstration's folder, in DATA_DIR and below ARCHIVE_URL and DUMPS_URL. */
const FOLDER = 'demo-records';
/** The demonstration's account. Nothing is ever sent to this address. */
const DEMO_EMAIL = 'demo@broadsheet.example';
/** The name of the account's key, and the hostname of its alert. */
const KEY_NAME = 'demonstration';
const ALERT_HOST = 'harbor-ledger.example';

/**
 * The settings of the demonstration: its own data and log, its own name server at `port`, and no mails, payments or
 * witnesses. `every` is in seconds.
 */
export function demoVariables(settings: Settings, port: number, every: number): Record<string, string> {
  const folder = join(settings.dataDir, FOLDER);
  return {
    DATA_DIR: folder,
    LOG_DIR: join(folder, 'log'),
    SERVICES: 'records',
    RESOLVERS: `127.0.0.1:${port}`,
    SCAN_EVERY: `${every}s`,
    SCANNER: 'on',
    RECORDS_LOG_ORIGIN: 'demonstration.example/log',
    WEBHOOK_PRIVATE: 'allow',
    // Keeps the terminal free for the guide of things to try.
    LOG_LEVEL: settings.logLevel === 'info' ? 'error' : settings.logLevel,
    ...Object.fromEntries(OPERATOR_SETTINGS.map((name) => [name, ''])),
    ARCHIVE_URL: below(settings.archiveUrl),
    DUMPS_URL: below(settings.dumps?.url),
    DUMPS_PUBLIC_URL: below(settings.dumps?.publicUrl),
  };
}

/** A folder of the demonstration's own below a place of the operator's, so that it never overwrites a service's. */
function below(place: string | null | undefined): string {
  if (place === null || place === undefined) return '';
  // A single letter is a Windows drive, not a URL scheme.
  if (!/^[a-z][a-z0-9+.-]+:/i.test(place)) return join(place, FOLDER);
  const url = new URL(place);
  url.pathname = `${url.pathname.replace(/\/+$/, '')}/${FOLDER}`;
  return url.href;
}

/** Settings of the real service that must not reach the demonstration. */
const OPERATOR_SETTINGS = [
  'DATA_ORIGIN',
  'TLS_PRIVATE',
  'SMTP_URL',
  'LOG_ORIGIN',
  'LOG_POLICY',
  'LEASE_URL',
  'RECORDS_NODES',
  'RECORDS_NODE',
  'METRICS_PORT',
  'X402_FACILITATOR_URL',
  'X402_PAY_TO',
  'X402_NETWORK',
  'X402_ASSET',
  'X402_RPC_URL',
];

/** The id of the demonstration's account. Creates the account on first use. */
export function demoAccount({ store: { records }, clock }: AppContext): string {
  return records.accounts.ofEmail(DEMO_EMAIL, { id: newId(), plan: 'daily', made_at: clock.now() }).id;
}

/** Gives the demonstration's account an alert for the hostname that changes most, and a new key. Returns the key. */
export function prepareDemo(app: AppContext): string {
  const { store, clock } = app;
  store.records.watch(DEMO_NAMES.map(parseHostname), clock.now());
  return store.database.transact(() => {
    const account = demoAccount(app);
    for (const { id, name } of store.records.serviceKeys.list(account)) {
      if (name === KEY_NAME) store.records.serviceKeys.revoke(id, clock.now(), 'cli', account);
    }
    if (!store.records.changeAlerts.list(account).some(({ hostname }) => hostname === ALERT_HOST)) {
      const wish = { group: '', hostname: ALERT_HOST, way: 'instant', url: '' } as const;
      const requireHost = (text: string) => requireWatched(app, text);
      makeAlert(store.records, account, wish, { now: clock.now(), newId, allowsPrivate: false, requireHost });
    }
    const maker = { keys: store.records.serviceKeys, now: clock.now, by: 'cli' };
    return makeServiceKey(maker, { account, level: 'account', name: KEY_NAME }).key;
  });
}

/** Lines of the guide with the pages that show and explain the takeover. */
function incidentLines({ store: { records }, settings: { dataOrigin: root } }: AppContext): string[] {
  const host = records.find(HIJACK.hostname);
  const [first] = host === null ? [] : records.deltas({ host: host.id, signal: 'NS' }, { limit: 1, order: 'oldest' });
  if (first === undefined) return [];
  return [
    `  ${root}/changes/${dayOf(first.at)}          a name that was taken over: seen, alerted, explained by its owner`,
  ];
}

/** Lines that say what to look at and what to try. `server` is the port of the name server; `every` is in seconds. */
export function demoGuide(
  app: AppContext,
  { server, every, key }: { server: number; every: number; key: string },
): string[] {
  const { dataOrigin: root, dataDir, archiveUrl, dumps } = app.settings;
  const header = `-H 'X-Service-Key: ${key}'`;
  return [
    '',
    'DEMONSTRATION: these names, their values and their changes are invented, and nothing is sent to the network.',
    `${DEMO_NAMES.length} names below .example, on a name server of its own at 127.0.0.1:${server} (UDP and TCP); some of them change every ${every} s.`,
    '',
    'Look at',
    `  ${root}/                            the tape, which moves by itself`,
    `  ${root}/t/${ALERT_HOST}     the time machine of the liveliest name`,
    ...incidentLines(app),
    `  ${root}/changes/today               what changed today`,
    ...(dumps === null
      ? []
      : [`  ${root}/dumps/                      each closed day as files, a few minutes from now`]),
    `  ${root}/account                     sign in as ${DEMO_EMAIL}; the link is a mail in ${join(dataDir, 'outbox')}`,
    '',
    'Try',
    `  dig @127.0.0.1 -p ${server} ${ALERT_HOST} A`,
    `  curl -s ${root}/v1/tape`,
    `  curl -sN ${header} ${root}/v1/stream`,
    `  curl -s ${header} '${root}/v1/domains/${ALERT_HOST}?as_of=${new Date(app.clock.now()).toISOString().slice(0, 19)}Z'`,
    `  curl -s ${header} ${root}/v1/exports/domains/${ALERT_HOST}/evidence.json | ${CLI} verify - --keys ${root}/.well-known/records-keys.json`,
    '',
    `Each change of ${ALERT_HOST} is also a mail in ${join(dataDir, 'outbox')}: an alert of that account. So was the takeover of ${HIJACK.hostname}.`,
    ...(archiveUrl === null
      ? []
      : [`Its closed days go to ${shownAddress(archiveUrl)} from now on, apart from your own archive.`]),
    `All of it is in ${dataDir}, apart from your own records; remove the folder when you are done. Ctrl-C ends the demonstration.`,
  ];
}
