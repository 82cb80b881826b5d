import assert from 'node:assert/strict';
import { renameSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { TOOLS } from '../../../api/records/mcp/tools.ts';
import { DAY, dayOf, HOUR, isoTime } from '../../../src/proof/time.ts';
import { parseHostname } from '../../../src/records/hostname.ts';
import type { AppContext } from '../../../src/server/context.ts';
import { Fault } from '../../../src/shared/fault.ts';
import type { ArchivePlace } from '../../../src/shared/storage/archive-place.ts';
import { tempFolder } from '../../support/app-context.ts';
import { archiveAll, folderPlace } from '../../support/archive.ts';
import { mcpUser } from '../../support/mcp.ts';
import { certificate, probe } from '../../support/probes.ts';
import { type RecordsStand, recordsStand } from '../../support/records-fixture.ts';
import { cookieOf } from '../../support/signed-in.ts';
import { ONLY_WIDE } from '../../support/wide.ts';

// While the archive is away, an answer that needs it is refused, and any other is the one of before: never a shorter list.

const START = Date.UTC(2026, 9, 29, 12);
const NAME = 'www.example.org';
const OLD = isoTime(START + HOUR);
/** A month's file, and two days'. */
const DAYS = 6;

interface Away extends RecordsStand {
  folder: string;
  key: string;
  cookie: string;
  /** Has the archive answer so from now on; null as it is. */
  answerBy(place: ArchivePlace | null): void;
}

/** Days in the archive; with `instead`, what is done before they go there, and they do not. */
async function stand(t: TestContext, instead?: (app: AppContext) => void): Promise<Away> {
  const folder = join(tempFolder(t), 'archive');
  const many = '1000000';
  const settings = { ARCHIVE_URL: folder, KEYED_PER_MINUTE: many, KEYED_DAILY: many, KEYED_EXPORTS: many };
  const opened = await recordsStand(t, settings, START);
  const { app, clock, enter } = opened;
  app.store.records.watch([parseHostname(NAME)], START);
  for (let day = 0; day < DAYS; day++) {
    const answers = { A: [`192.0.2.${day}`], TXT: ['x'.repeat(30_000)], SOA: [`ns. host. ${day} 1 1 1 1`] };
    enter(probe(NAME, START + day * DAY, answers, certificate(String(day))));
  }
  clock.now = START + DAYS * DAY;
  const place = folderPlace(folder);
  if (instead === undefined) await archiveAll(app, place);
  else instead(app);
  let given: ArchivePlace | null = null;
  Object.defineProperty(app, 'archive', { get: () => given ?? folderPlace(folder) });
  return {
    ...opened,
    ...{ folder, key: opened.keyOf('account'), cookie: cookieOf(app) },
    answerBy(next) {
      given = next;
    },
  };
}

/** Reads that need the archive, by address, and all others of the data API, with what stands for a parameter. */
const NEEDS = [
  `/v1/domains/${NAME}?as_of=${OLD}`,
  `/v1/domains/${NAME}?as_of=${dayOf(START)}`,
  `/v1/domains/${NAME}/series`,
  `/v1/domains/${NAME}/series?type=A&until=${OLD}`,
  `/v1/domains/${NAME}/provenance`,
  `/v1/exports/domains/${NAME}.csv`,
  `/v1/exports/domains/${NAME}/evidence.json`,
];
const ALONE = [
  `/v1/domains/${NAME}`,
  `/v1/domains/${NAME}?as_of=${isoTime(START - DAY)}`,
  `/v1/domains/${NAME}/history`,
  `/v1/domains/${NAME}/history?since=${dayOf(START)}&until=${OLD}`,
  `/v1/changes?domain=${NAME}`,
  '/v1/search?q=192.0.2.1',
  '/v1/search?q=www',
  '/v1/services',
  '/v1/issuers',
  '/v1/mail-hosts',
  '/v1/dns-hosts',
  '/v1/domains',
  '/v1/tape',
  '/v1/analytics',
  ...['changes', 'domains', 'services', 'issuers', 'mail-hosts', 'dns-hosts'].map((file) => `/v1/exports/${file}.csv`),
];
/** Operations of the data API that give nothing of observations: what an account set, what is sold, the service itself. */
const OTHERS = /^\/v1($|\/(account|plans|usage|stream|openapi|queue|bq)\b)|^\/(?!v1)/;
const PAGES_NEED = [`/t/${NAME}?as_of=${OLD}`, `/t/${NAME}?as_of=${dayOf(START + DAY)}`];
const PAGES_ALONE = [
  ...['/', `/t/${NAME}`, '/changes', `/changes/${dayOf(START + DAY)}`, '/changes.json', '/changes.rss'],
  ...[`/badge/${NAME}.svg`, '/domains', '/search?q=192.0.2.1', '/types/A', '/issuers', '/analytics', '/docs'],
];
const DOWNLOADS_NEED = [`${NAME}.csv`, `${NAME}/evidence.json`, `${NAME}/provenance.json`].map(
  (file) => `/account/exports/domains/${file}`,
);

type Answer = [status: number, retryAfter: string | null, text: string];

async function answersOf({ url, key, cookie }: Away, paths: readonly string[]): Promise<Map<string, Answer>> {
  const found = new Map<string, Answer>();
  for (const path of paths) {
    const headers: Record<string, string> = path.startsWith('/v1') ? { authorization: `Bearer ${key}` } : { cookie };
    const answer = await fetch(url + path, { headers });
    found.set(path, [answer.status, answer.headers.get('retry-after'), await answer.text()]);
  }
  return found;
}

async function unitsOf(one: Away): Promise<number> {
  return JSON.parse((await answersOf(one, ['/v1/usage'])).get('/v1/usage')?.[2] ?? '').month.units;
}

/** How a place may be away. */
const WAYS: Record<string, (of: ArchivePlace) => ArchivePlace> = {
  'objects are gone': (of) => ({ ...of, range: async () => null }),
  'it fails': (of) => ({
    ...of,
    range: () => Promise.reject(new Fault('unavailable', `${of.name} failed (status 503)`)),
  }),
  'it closes connections': (of) => ({ ...of, range: () => Promise.reject(new TypeError('fetch failed')) }),
};

test('every read that needs the archive is refused while it is away, and no other changes', {
  skip: ONLY_WIDE,
}, async (t) => {
  const one = await stand(t);
  const needs = [...NEEDS, ...PAGES_NEED, ...DOWNLOADS_NEED];
  const all = [...needs, ...ALONE, ...PAGES_ALONE];
  const { paths } = (await (await fetch(`${one.url}/v1/openapi.json`)).json()) as { paths: Record<string, object> };
  for (const [path, operations] of Object.entries(paths)) {
    if (OTHERS.test(path) || !('get' in operations)) continue;
    const form = new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/?]+')}(\\?|$)`);
    assert.ok(
      all.some((one) => form.test(one)),
      `GET ${path} is read here`,
    );
  }
  const before = await answersOf(one, all);
  for (const [path, [status]] of before) assert.equal(status, path === ALONE[1] ? 404 : 200, path);
  for (const [way, made] of Object.entries(WAYS)) {
    one.answerBy(made(folderPlace(one.folder)));
    const used = await unitsOf(one);
    await answersOf(one, NEEDS);
    assert.equal(await unitsOf(one), used, 'what is refused is not charged');
    for (const [path, [status, retryAfter, text]] of await answersOf(one, all)) {
      if (!needs.includes(path)) assert.deepEqual([status, retryAfter, text], before.get(path), `${way}: ${path}`);
      else {
        assert.equal(status, 503, `${way}: ${path}`);
        assert.ok(Number(retryAfter) > 0, path);
        assert.ok(!text.includes(one.folder), 'where the archive is is nobody’s business');
      }
    }
  }
  one.answerBy(null);
  assert.deepEqual(await answersOf(one, all), before);
  renameSync(one.folder, `${one.folder}.away`);
  for (const [path, [status]] of await answersOf(one, needs)) assert.equal(status, 503, path);
});

test('tools of agents say that an answer is not there now, and give no shorter one', async (t) => {
  const one = await stand(t);
  const user = await mcpUser(t, '2026', one.url, { authorization: `Bearer ${one.key}` });
  const given: Record<string, [needs: object[], alone: object[]]> = {
    get_domain: [[{ domain: NAME, as_of: OLD }], [{ domain: NAME }]],
    list_domains: [[], [{ q: 'www' }, {}]],
    list_changes: [[], [{ domain: NAME }]],
    get_domain_history: [[], [{ domain: NAME }, { domain: NAME, until: OLD }]],
    get_provenance: [[{ domain: NAME }], []],
  };
  assert.deepEqual(
    Object.keys(given),
    TOOLS.map(({ name }) => name),
  );
  const calls = Object.entries(given).flatMap(([name, [needs, alone]]) => [
    ...needs.map((args) => ({ name, args, isNeeded: true })),
    ...alone.map((args) => ({ name, args, isNeeded: false })),
  ]);
  const before = await Promise.all(calls.map(({ name, args }) => user.call(name, args)));
  for (const [way, made] of Object.entries(WAYS)) {
    one.answerBy(made(folderPlace(one.folder)));
    for (const [n, { name, args, isNeeded }] of calls.entries()) {
      const now = await user.call(name, args);
      if (!isNeeded) assert.deepEqual(now.structuredContent, before[n]?.structuredContent, `${way}: ${name}`);
      else {
        assert.equal(now.isError, true, name);
        assert.match(JSON.stringify(now.content), /try again/, name);
      }
    }
  }
});

test('a download that the archive leaves in the middle breaks off, and does not end', {
  skip: ONLY_WIDE,
}, async (t) => {
  const one = await stand(t);
  const files = NEEDS.filter((path) => path.startsWith('/v1/exports'));
  const whole = await answersOf(one, files);
  let broken = 0;
  // The server of HTTP says there why an answer broke off.
  t.mock.method(console, 'error', () => {});
  for (const path of files) {
    for (let most = 0, isWhole = false; !isWhole; most++) {
      assert.ok(most < 100, path);
      const place = folderPlace(one.folder);
      let reads = 0;
      one.answerBy({
        ...place,
        range: (...args) =>
          ++reads > most ? Promise.reject(new Fault('unavailable', 'it does not answer')) : place.range(...args),
      });
      const found = await answersOf(one, [path]).catch(() => null);
      if (found === null) broken++;
      else if (found.get(path)?.[0] !== 503) {
        assert.deepEqual(found, new Map([[path, whole.get(path)]]));
        isWhole = true;
      }
    }
  }
  assert.ok(broken > 0);
});

test('values that an older version cut are counted in the archive, and not as the database has them', async (t) => {
  const one = await stand(t, (app) => app.store.records.markDamaged({ seq: 2, at: START, reason: 'cut' }));
  const path = `/v1/domains/${NAME}/history`;
  const before = await answersOf(one, [path]);
  assert.equal(before.get(path)?.[0], 200);
  await archiveAll(one.app, folderPlace(one.folder));
  assert.equal(one.app.store.records.observationTotals().count, 1);
  assert.deepEqual(await answersOf(one, [path]), before);
  one.answerBy((WAYS['it fails'] ?? assert.fail())(folderPlace(one.folder)));
  assert.equal((await answersOf(one, [path])).get(path)?.[0], 503);
});
