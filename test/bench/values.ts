import { mkdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'libsql';
import type { Probe } from '../../src/proof/records/signal.ts';
import { parseHostname } from '../../src/records/hostname.ts';
import { localQueue } from '../../src/records/jobs/local-queue.ts';
import { findEverywhere } from '../../src/records/search.ts';
import type { AppContext } from '../../src/server/context.ts';
import { clockOf } from '../../src/signing/clock/clock-guard.ts';
import { certificate, probe } from '../support/probes.ts';
import { randomFrom } from './invented.ts';
import type { Bench } from './paper.ts';
import { openRecords } from './records-seed.ts';
import { aSecond, type Figure, median, millis, note, seconds } from './table.ts';

const VALUES = Number(process.env.BENCH_VALUES ?? 1_000_000);
/** Of one hostname. */
const EACH = 10;
/** How often each question is asked. */
const ASKED = 40;
/** For the looks: hostnames, and how often each is looked at. */
const HOSTS = 1_500;
const ROUNDS = 5;
const DAY = 86_400_000;

const figure = (what: string, ours: string, other = '', ratio: number | null = null): Figure => ({
  what,
  ours,
  other,
  ratio,
  budget: '',
  holds: null,
});

/** Search within a million values: what making the index costs an older database, how fast it is, and what it costs looks. */
export async function valuesPart({ folder }: Bench): Promise<Figure[]> {
  return [...(await looksBesideIndex(join(folder, 'values-looks'))), ...searches(join(folder, 'values'))];
}

function searches(folder: string): Figure[] {
  mkdirSync(folder);
  openRecords(folder).close();
  const file = join(folder, 'var/broadsheet.db');
  fill(file);
  const before = statSync(file).size;
  const began = performance.now();
  const app = openRecords(folder);
  const opened = performance.now() - began;
  const batches: number[] = [];
  for (let more = true; more; ) {
    const start = performance.now();
    more = app.store.records.indexValues();
    batches.push(performance.now() - start);
  }
  const spent = batches.reduce((sum, ms) => sum + ms, 0);
  const longest = Math.max(...batches);
  note(`values: ${VALUES} indexed in ${seconds(spent)}, in ${batches.length} transactions`);
  const figures = [
    figure(`opening a database of ${VALUES} values from before there was the index`, millis(opened)),
    figure(
      `indexing ${VALUES} values, nothing else running : of one transaction p50, p99, longest`,
      seconds(spent),
      `${millis(at(batches, 0.5))}, ${millis(at(batches, 0.99))}, ${millis(longest)}`,
    ),
    figure('bytes for each value: its text once and its words : the table of what was seen, and its index', '', ''),
  ];
  const times: number[] = [];
  for (const [kind, questions] of questionsFrom()) {
    const own = questions.map((q) => {
      const start = performance.now();
      findEverywhere(app.store.records, q);
      return performance.now() - start;
    });
    note(`values: ${kind}: p50 ${millis(at(own, 0.5))}, p99 ${millis(at(own, 0.99))}`);
    times.push(...own);
  }
  app.close();
  const db = new Database(file);
  db.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  db.close();
  const after = statSync(file).size;
  Object.assign(figures[2] ?? {}, {
    ours: `${Math.round((after - before) / VALUES)}`,
    other: `${Math.round(before / VALUES)}`,
    ratio: (after - before) / before,
  });
  figures.push(
    figure(
      `GET /v1/search over ${VALUES} values, no HTTP: p99 (other: p50)`,
      millis(at(times, 0.99)),
      millis(at(times, 0.5)),
    ),
  );
  return figures;
}

/** A database as it was before there was an index of values, with sightings that were never looked at. */
function fill(file: string): void {
  const random = randomFrom(11);
  const db = new Database(file);
  db.exec(`PRAGMA synchronous = off; DROP TRIGGER sightings_to_index; DROP TABLE values_to_index;
    DROP TABLE values_before; DROP TABLE searched_values; DROP TABLE value_words;
    DELETE FROM migrations WHERE name LIKE '063%'`);
  const host = db.prepare(
    `INSERT INTO hostnames (id, hostname, unicode, path, registrable_domain, state, added_at, due_at, operator)
     VALUES (?1, ?2, ?2, ?3, ?4, 'watched', 0, 0, 'x')`,
  );
  const label = db.prepare('INSERT INTO hostname_labels (rowid, labels) VALUES (?, ?)');
  const sighting = db.prepare('INSERT INTO sightings VALUES (?, ?, ?, 0, 0, 1) ON CONFLICT DO NOTHING');
  const hosts = Math.ceil(VALUES / EACH);
  for (let id = 1; id <= hosts; ) {
    db.exec('BEGIN');
    for (const end = Math.min(hosts, id + 999); id <= end; id++) {
      const zone = `zone-${id}.example`;
      host.run(id, `www.${zone}`, `example.zone-${id}.www`, zone);
      label.run(id, `www.${zone}`);
      for (const [signal, value] of valuesOf(id, zone, random)) sighting.run(id, signal, value);
    }
    db.exec('COMMIT');
  }
  db.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  db.close();
}

const ISSUERS = [
  "CN=R11, O=Let's Encrypt, C=US",
  'CN=WE1, O=Google Trust Services, C=US',
  'CN=DigiCert Global G2 TLS RSA SHA256 2020 CA1, O=DigiCert Inc, C=US',
];

function valuesOf(id: number, zone: string, random: () => number): [signal: string, value: string][] {
  const to = (n: number): number => Math.floor(random() * n);
  const hex = (length: number): string => Array.from({ length }, () => to(16).toString(16)).join('');
  const house = `house${to(4_000)}.example`;
  return [
    ['A', `${to(224)}.${to(256)}.${to(256)}.${to(256)}`],
    ['AAAA', `2001:db8:${hex(4)}::${hex(3)}`],
    ['NS', `ns1.${zone}`],
    ['NS', `ns2.${house}`],
    ['MX', `10 mx1.${zone}`],
    ['MX', '1 aspmx.l.google.com'],
    ['TXT', `google-site-verification=${hex(43)}`],
    ['TXT', `v=spf1 include:_spf.google.com ip4:${to(224)}.${to(256)}.${to(256)}.0/24 include:${house} ~all`],
    ['SOA', `ns1.${zone} hostmaster.${zone} 7200 3600 1209600 300`],
    ['CERTIFICATE', `${hex(64)} 2027-01-30T00:00:00.000Z ${ISSUERS[id % ISSUERS.length]}`],
  ];
}

function questionsFrom(): Map<string, string[]> {
  const random = randomFrom(5);
  const to = (n: number): number => Math.floor(random() * n);
  const some = (make: () => string): string[] => Array.from({ length: ASKED }, make);
  return new Map([
    ['a host within a value', some(() => `mx1.zone-${to(VALUES / EACH)}.example`)],
    ['a host that very many have', some(() => 'aspmx.l.google.com')],
    ['the beginning of an address', some(() => `${to(224)}.${to(256)}`)],
    ['an address’s first number', some(() => `${to(224)}.`)],
    ['a word of texts', some(() => 'v=spf1')],
    ['a provider within texts', some(() => `house${to(4_000)}.example`)],
    ['an issuer', some(() => ["Let's Encrypt", 'DigiCert', 'R11', 'Google Trust Services'][to(4)] ?? '')],
    ['a word’s beginning', some(() => ['goo', 'goog', 'googl', 'zo', 'zone', 'ho', 'hous', 'le', 'dig'][to(9)] ?? '')],
    ['a fingerprint’s beginning', some(() => to(2 ** 32).toString(16))],
    ['words that never stand together', some(() => 'digicert google spf1')],
    ['what nothing has', some(() => `nothing${to(1e6)}`)],
  ]);
}

/** The same looks into two databases in turn, one of which keeps no list of values for the index. */
async function looksBesideIndex(folder: string): Promise<Figure[]> {
  mkdirSync(folder);
  const names = ['without', 'with'] as const;
  const shops = names.map((name) => {
    mkdirSync(join(folder, name));
    const app = openRecords(join(folder, name));
    app.signer.open();
    return app;
  });
  const plain = new Database(join(folder, 'without/var/broadsheet.db'));
  plain.exec('DROP TRIGGER sightings_to_index');
  plain.close();
  const hosts = Array.from({ length: HOSTS }, (_, n) => `h${n}.zone${n}.example`);
  const rates: Record<string, number[]> = { without: [], with: [], indexed: [] };
  for (let round = 0; round < ROUNDS; round++) {
    for (const at of round % 2 === 0 ? [0, 1] : [1, 0]) {
      const app = shops[at] as AppContext;
      const spent = await lookAt(app, hosts, round);
      const start = processorTime();
      if (at === 1) while (app.store.records.indexValues());
      const indexing = processorTime() - start;
      rates[names[at] as string]?.push(HOSTS / (spent / 1_000));
      if (at === 1) rates.indexed?.push(HOSTS / ((spent + indexing) / 1_000));
    }
  }
  for (const app of shops) app.close();
  const rate = (name: string, from: number, to?: number): number => median(rates[name]?.slice(from, to) ?? []);
  return [
    ['the first look at each', 0, 1] as const,
    ['looks that follow, one host of 20 with a new value', 1, undefined] as const,
  ].flatMap(([what, from, to]) => [
    figure(
      `observations signed and stored in a second of processor time, ${what} : without an index of values`,
      aSecond(rate('with', from, to)),
      aSecond(rate('without', from, to)),
      rate('with', from, to) / rate('without', from, to),
    ),
    figure(
      'the same, with the time that indexing took afterwards',
      aSecond(rate('indexed', from, to)),
      aSecond(rate('without', from, to)),
      rate('indexed', from, to) / rate('without', from, to),
    ),
  ]);
}

/** Of this process, in ms: waiting for the disk and for neighbours is not counted. */
function processorTime(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}

/** Looks at all hosts once; the processor time that leasing and entering took, in ms. */
async function lookAt(app: AppContext, hosts: string[], round: number): Promise<number> {
  const now = Date.now() - (ROUNDS - round) * DAY;
  app.store.records.watch(hosts.map(parseHostname), now);
  app.store.records.pullForward(now, now);
  const queue = localQueue({ ...app, clock: clockOf(() => now + 1) }, 'bench');
  let spent = 0;
  for (;;) {
    const start = processorTime();
    const taken = await queue.lease(16);
    spent += processorTime() - start;
    if (taken === null) return spent;
    const looks = taken.hostnames.map((name) => seen(name, round, now));
    const entering = processorTime();
    await queue.submit(taken.lease, looks);
    spent += processorTime() - entering;
  }
}

function seen(hostname: string, round: number, now: number): Probe {
  const number = Number(/\d+/.exec(hostname)?.[0]);
  const turn = number % 20 === round ? round : 0;
  const zone = hostname.replace(/^[^.]+\./, '');
  const shown = {
    A: [`192.0.${number >> 8}.${number & 255}`, `198.51.100.${turn}`],
    AAAA: [`2001:db8::${number.toString(16)}:${turn}`],
    NS: [`ns1.${zone}`, `ns2.${zone}`],
    SOA: [`ns1.${zone} hostmaster.${zone} ${round + 1} 7200 3600 1209600 300`],
    MX: [`10 mx1.mail${number % 50}.example`, `20 mx2.mail${number % 50}.example`],
    TXT: ['v=spf1 include:_spf.example.com ~all', `verification=${hostname}`],
    CAA: ['0 issue "letsencrypt.org"'],
  };
  return probe(hostname, now, shown, certificate((number % 16).toString(16)));
}

function at(times: number[], share: number): number {
  const sorted = [...times].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}
