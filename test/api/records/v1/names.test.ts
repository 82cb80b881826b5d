import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import pino from 'pino';
import { listenRecords } from '../../../../api/server.ts';
import { auditRecords } from '../../../../src/operate/audit/records.ts';
import { CHECKS_DAILY, MISSING_FOR, RECHECK_EVERY } from '../../../../src/records/accounts/owner.ts';
import { startOwnerChecks } from '../../../../src/records/jobs/owner-checks.ts';
import { openAppContext } from '../../../../src/server/context.ts';
import { tempFolder } from '../../../support/app-context.ts';
import { reloadKnot, startKnot, WITHOUT_SERVERS } from '../../../support/dns-servers.ts';
import { ownerZone } from '../../../support/owner-zone.ts';
import { probe } from '../../../support/probes.ts';
import { until } from '../../../support/program.ts';
import { recordsStand } from '../../../support/records-fixture.ts';
import { send } from '../../../support/send.ts';

const DAY = 86_400_000;
const silent = pino({ level: 'silent' });

/** The records, served twice over one database, and two accounts that ask either in turn. */
async function stand(t: TestContext, dns: number, more: Record<string, string> = {}) {
  const first = await recordsStand(t, { RESOLVERS: `127.0.0.1:${dns}`, TLS_PRIVATE: '127.0.0.0/8', ...more });
  const { app, url, clock, keyOf } = first;
  const elsewhere = openAppContext(app.settings, () => clock.now);
  elsewhere.signer.open();
  const second = await listenRecords(elsewhere, silent);
  t.after(async () => {
    await second.close();
    elsewhere.close();
  });
  const calls = (key: string) => {
    const call =
      (method: string) =>
      async (path: string, body?: object, n = 0) => {
        const { status, text } = await send(n % 2 === 0 ? url : second.url, {
          method,
          path: `/v1/account/${path}`,
          headers: { 'x-service-key': key },
          ...(body === undefined ? {} : { body }),
        });
        return { status, body: JSON.parse(text) };
      };
    return { get: call('GET'), post: call('POST'), put: call('PUT'), del: call('DELETE') };
  };
  const id = (email: string) => app.store.records.accounts.byEmail(email)?.id ?? '';
  const [ada, ben] = [calls(keyOf('account')), calls(keyOf('account', 'ben@example.org'))];
  const page = async (path: string, accept = 'text/html') => (await send(url, { path, headers: { accept } })).text;
  const faults = () => {
    const found: string[] = [];
    auditRecords(app, found);
    return found;
  };
  return { ...first, ada, ben, page, faults, adaId: id('ada@example.org'), benId: id('ben@example.org') };
}

const statusesOf = (answers: { status: number }[]) => {
  const counts: Record<number, number> = {};
  for (const { status } of answers) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
};

test('an account proves a name on a real name server, looks at it, and loses nothing to a failure', {
  skip: WITHOUT_SERVERS,
}, async (t) => {
  const folder = join(tempFolder(t), 'knot');
  const zone = (more: string[]) => [{ name: 'example.com', lines: ['@ A 127.0.0.1', 'www A 127.0.0.1', ...more] }];
  const knot = await startKnot(folder, zone([]));
  t.after(knot.stop);
  const { ada, ben, app, clock } = await stand(t, knot.port);
  await ada.post('watch', { hostnames: ['example.com', 'www.example.com'] });

  const begun = await ada.post('names', { hostname: 'Example.COM' });
  assert.equal(begun.status, 201);
  const { txt, file, state } = begun.body;
  assert.equal(state, 'unproven');
  assert.equal(txt.name, '_broadsheet.example.com');
  assert.match(txt.value, /^broadsheet-verification=[\w-]{43}$/);
  assert.deepEqual(file, {
    url: 'https://example.com/.well-known/broadsheet-verification',
    content: `${txt.value}\n`,
  });
  assert.deepEqual((await ada.post('names', { hostname: 'example.com' })).body.txt, txt, 'it stays the same');
  assert.notEqual((await ben.post('names', { hostname: 'example.com' })).body.txt.value, txt.value);

  const early = await ada.post('names/example.com/proof');
  assert.equal(early.body.state, 'unproven');
  assert.deepEqual(
    early.body.checks.map(({ way, outcome, detail }: Record<string, string>) => [way, outcome, detail]),
    [
      ['txt', 'absent', 'nxdomain'],
      ['file', 'unknown', 'refused'],
    ],
  );
  assert.equal((await ada.post('names/www.example.com/look')).status, 409);

  reloadKnot(folder, zone([`_broadsheet TXT "${txt.value}"`]), 2);
  const proven = await ada.post('names/example.com/proof');
  assert.equal(proven.body.state, 'proven');
  assert.equal(proven.body.way, 'txt');
  assert.equal(proven.body.next_check_at, new Date(clock.now + RECHECK_EVERY).toISOString());
  const { items } = (await ada.get('alerts')).body;
  assert.deepEqual(
    items.map(({ id, hostname, way }: Record<string, string>) => [id, hostname, way]),
    [[proven.body.alert, 'example.com', 'instant']],
  );
  assert.equal((await ada.post('names/example.com/proof')).body.alert, null, 'one alert is enough');
  assert.equal((await ben.post('names/example.com/proof')).body.state, 'unproven', 'a token is one account’s');
  assert.equal((await ben.post('names/www.example.com/look')).status, 409);

  // The same names are due within a round from now on.
  const look = await ada.post('names/www.example.com/look');
  assert.equal(look.status, 200);
  assert.deepEqual(look.body.record.signals.A.values, ['127.0.0.1']);
  assert.equal(look.body.looks_left, 4);
  assert.ok((app.store.records.find('www.example.com')?.due_at ?? 0) <= clock.now + 64 * 60_000);
  assert.equal((await ada.get('names/example.com')).body.looks.left, 5);

  reloadKnot(folder, zone([`_broadsheet TXT "${txt.value}"`, 'www A 127.0.0.2']), 3);
  const second = await ada.post('names/www.example.com/look');
  assert.deepEqual(
    second.body.changes.map(({ signal, kind }: Record<string, string>) => [signal, kind]),
    [['A', 'changed']],
  );
});

test('fifty parallel looks at once: five pass, on two servers, and the day is counted in UTC', async (t) => {
  const zone = await ownerZone(t);
  const { ada, app, clock } = await stand(t, zone.port);
  zone.a.set('example.com', ['127.0.0.1']);
  await ada.post('watch', { hostnames: ['example.com'] });
  const { txt } = (await ada.post('names', { hostname: 'example.com' })).body;
  zone.txt.set(txt.name, [txt.value]);
  assert.equal((await ada.post('names/example.com/proof')).body.state, 'proven');
  const looks = (count: number) =>
    Promise.all(Array.from({ length: count }, (_, n) => ada.post('names/example.com/look', undefined, n)));
  assert.deepEqual(statusesOf(await looks(50)), { 200: 5, 429: 45 });
  clock.now = Date.UTC(2026, 10, 21, 23, 59, 59, 999);
  assert.deepEqual(statusesOf(await looks(2)), { 429: 2 });
  clock.now += 1;
  assert.deepEqual(statusesOf(await looks(7)), { 200: 5, 429: 2 });
  // A clock set back opens no day again that was used up.
  clock.now -= DAY;
  assert.deepEqual(statusesOf(await looks(2)), { 429: 2 });
  clock.now += 2 * DAY;
  // What came to nothing is not counted.
  zone.failing = 5;
  const { status } = await ada.post('names/example.com/look');
  assert.equal(status, 200, 'a refusal is an observation too');
  assert.equal((await ada.get('names/example.com')).body.looks.left, 4);
  app.store.records.pause('example.com');
  assert.equal((await ada.post('names/example.com/look')).status, 409);
  assert.equal((await ada.get('names/example.com')).body.looks.left, 4);
});

test('a proof covers what is below it, and no parent, no suffix, no other registrant', async (t) => {
  const zone = await ownerZone(t);
  const { ada, enter, clock } = await stand(t, zone.port);
  const prove = async (name: string) => {
    const { status, body } = await ada.post('names', { hostname: name });
    if (status !== 201) return { status, body };
    zone.txt.set(body.txt.name, [body.txt.value]);
    return ada.post(`names/${name}/proof`);
  };
  for (const suffix of ['co.uk', 'github.io', 's3.amazonaws.com']) {
    const { status, body } = await prove(suffix);
    assert.equal(status, 400, suffix);
    assert.match(body.message, /public suffix/);
  }
  for (const bad of [
    '',
    'com',
    '192.0.2.1',
    '_broadsheet.example.com',
    'a\u0000b.example',
    '*.example.com',
    'ex\u202eample.com',
  ]) {
    assert.equal((await ada.post('names', { hostname: bad })).status, 400, JSON.stringify(bad));
  }
  for (const name of ['shop.example.com', 'amazonaws.com']) assert.equal((await prove(name)).body.state, 'proven');
  const names = [
    'a.shop.example.com',
    'shop.example.com',
    'example.com',
    'notshop.example.com',
    'them.s3.amazonaws.com',
  ];
  for (const name of names) enter(probe(name, clock.now, { A: ['192.0.2.1'] }));
  const may = async (name: string) => (await ada.put(`names/${name}/opt`, { opt: 'in' })).status;
  assert.equal(await may('shop.example.com'), 200);
  assert.equal(await may('a.shop.example.com'), 200);
  for (const name of ['example.com', 'notshop.example.com', 'them.s3.amazonaws.com'])
    assert.equal(await may(name), 409, name);
  const hidden = await ada.put('names/amazonaws.com/opt', { opt: 'out' });
  assert.equal(hidden.body.opted_out, true);
});

test('only two certain absences, a week apart, end a proof; the clock may go ahead and back', async (t) => {
  const zone = await ownerZone(t);
  const { ada, app, clock, adaId } = await stand(t, zone.port);
  const { owners, accountMails } = app.store.records;
  const { txt } = (await ada.post('names', { hostname: 'example.com' })).body;
  zone.txt.set(txt.name, [txt.value]);
  await ada.post('names/example.com/proof');
  const stateOf = async () => (await ada.get('names/example.com')).body.state;
  const mails = () => accountMails.ofAccount(adaId).filter(({ kind }) => kind === 'ownership').length;
  /** Runs the job until it has made the check that is due. */
  const round = async () => {
    const before = owners.get(adaId, 'example.com')?.checked_at;
    const stop = startOwnerChecks(app, silent);
    await until(() => (owners.get(adaId, 'example.com')?.checked_at !== before ? true : null));
    await stop();
  };
  const idle = async () => {
    const before = owners.get(adaId, 'example.com');
    await startOwnerChecks(app, silent)();
    assert.deepEqual(owners.get(adaId, 'example.com'), before);
  };
  await idle();
  clock.now += RECHECK_EVERY - 1;
  await idle();
  clock.now += 1;
  zone.failing = 2;
  for (let day = 0; day < 40; day += 13) {
    await round();
    assert.equal(await stateOf(), 'proven');
    clock.now += 13 * DAY;
  }
  assert.equal(mails(), 0, 'a failure says nothing');

  zone.failing = undefined;
  zone.txt.clear();
  await round();
  assert.equal(await stateOf(), 'missing');
  assert.equal(mails(), 1);
  const asked = await ada.post('names/example.com/proof');
  assert.equal(asked.body.state, 'missing', 'to ask again at once counts nothing');
  zone.failing = 2;
  clock.now += MISSING_FOR;
  await round();
  assert.equal(await stateOf(), 'missing', 'nor does a failure');

  // A clock that was set back: the week begins again.
  zone.failing = undefined;
  clock.now -= 100 * DAY;
  await round();
  assert.equal(await stateOf(), 'missing');
  assert.equal(mails(), 1);
  zone.txt.set(txt.name, [txt.value]);
  clock.now += MISSING_FOR;
  await round();
  assert.equal(await stateOf(), 'proven');

  zone.txt.clear();
  zone.txt.set(txt.name, ['v=spf1 -all']);
  clock.now += RECHECK_EVERY;
  await round();
  clock.now += MISSING_FOR;
  await round();
  assert.equal(await stateOf(), 'unproven');
  assert.equal(mails(), 3);
  const { events } = (await ada.get('names/example.com')).body;
  assert.deepEqual(
    events.map(({ event }: { event: string }) => event),
    ['ended', 'missing', 'missing', 'proven'],
  );
  assert.equal((await ada.put('names/example.com/opt', { opt: 'out' })).status, 409);
});

test('an owner’s opt-out takes effect at once, and of two owners the one who opts out wins', async (t) => {
  const zone = await ownerZone(t);
  const { ada, ben, app, enter, clock, page, faults } = await stand(t, zone.port);
  const { records } = app.store;
  for (const account of [ada, ben]) {
    const { txt } = (await account.post('names', { hostname: 'example.com' })).body;
    zone.txt.set(txt.name, [...(zone.txt.get(txt.name) ?? []), txt.value]);
    await account.post('names/example.com/proof');
  }
  for (const name of ['example.com', 'www.example.com', 'other.example']) {
    enter(probe(name, clock.now, { A: ['192.0.2.1'], MX: ['10 mail.google.com'] }));
    enter(probe(name, clock.now, { A: ['192.0.2.2'], MX: ['10 mail.google.com'] }));
  }
  records.pause('www.example.com');
  const before = [await page('/changes/2026-11-21'), await page('/mail-hosts'), await page('/t/www.example.com')];
  assert.match(before[0] ?? '', /www\.example\.com/);
  const shown = (text: string) => text.replaceAll(/"[^"]*"/g, '');
  const out = await ada.put('names/example.com/opt', { opt: 'out' });
  assert.deepEqual(out.body, {
    hostname: 'example.com',
    opted_out: true,
    by: 'you',
    name: 'example.com',
    since: new Date(clock.now).toISOString(),
  });
  assert.doesNotMatch(await page('/changes/2026-11-21'), /example\.com/);
  assert.match(await page('/t/www.example.com'), /nothing is shown|opted out/);
  assert.deepEqual(records.counts(), { watched: 1, paused: 0, opted_out: 2 });
  assert.deepEqual(faults(), []);
  assert.equal((await ada.post('names/example.com/look')).status, 404);
  assert.equal((await ada.post('watch', { hostnames: ['new.example.com'] })).body.reason ?? 'refused', 'refused');

  const theirs = await ben.put('names/example.com/opt', { opt: 'in' });
  assert.equal(theirs.body.opted_out, true);
  assert.equal(theirs.body.by, 'another_owner');
  await ben.put('names/www.example.com/opt', { opt: 'out' });
  const inAgain = await ada.put('names/example.com/opt', { opt: 'in' });
  assert.equal(inAgain.body.opted_out, false);
  assert.equal(records.find('example.com')?.state, 'watched');
  assert.equal(records.find('www.example.com')?.state, 'opted_out', 'what another owner opted out stays hidden');
  assert.deepEqual(faults(), []);
  await ben.put('names/www.example.com/opt', { opt: 'in' });
  assert.equal(records.find('www.example.com')?.state, 'paused', 'as it was');
  assert.deepEqual(faults(), []);
  const after = [await page('/changes/2026-11-21'), await page('/mail-hosts'), await page('/t/www.example.com')];
  assert.deepEqual(after.map(shown), before.map(shown));

  // The operator's word is final.
  records.optOut(
    { hostname: 'example.com', registrable_domain: 'example.com' },
    'their lawyer asked',
    'cli',
    clock.now,
  );
  const never = await ada.put('names/example.com/opt', { opt: 'in' });
  assert.deepEqual([never.body.opted_out, never.body.by], [true, 'operator']);
  assert.deepEqual(faults(), []);
});

test('an opt-out outlives the account, until a later owner lifts it', async (t) => {
  const zone = await ownerZone(t);
  const { ada, ben, app, enter, clock, faults, adaId } = await stand(t, zone.port);
  const { records } = app.store;
  const prove = async (account: typeof ada) => {
    const { txt } = (await account.post('names', { hostname: 'example.com' })).body;
    zone.txt.set(txt.name, [...(zone.txt.get(txt.name) ?? []), txt.value]);
    await account.post('names/example.com/proof');
  };
  enter(probe('example.com', clock.now, { A: ['192.0.2.1'] }));
  await prove(ada);
  await ada.put('names/example.com/opt', { opt: 'out' });
  records.accounts.remove(adaId);
  assert.equal(records.find('example.com')?.state, 'opted_out');
  assert.deepEqual(faults(), []);
  await prove(ben);
  assert.equal((await ben.put('names/example.com/opt', { opt: 'in' })).body.opted_out, false);
  assert.equal(records.find('example.com')?.state, 'watched');
  assert.deepEqual(faults(), []);
});

test('a note stands beside a change as the owner’s words, while the name is proven', async (t) => {
  const zone = await ownerZone(t);
  const { ada, ben, app, enter, clock, page, adaId } = await stand(t, zone.port);
  for (const account of [ada, ben]) {
    const { txt } = (await account.post('names', { hostname: 'example.com' })).body;
    zone.txt.set(txt.name, [...(zone.txt.get(txt.name) ?? []), txt.value]);
  }
  for (const address of ['192.0.2.1', '192.0.2.2']) enter(probe('example.com', clock.now, { A: [address] }));
  enter(probe('other.example', clock.now, { A: ['192.0.2.1'] }));
  enter(probe('other.example', clock.now, { A: ['192.0.2.2'] }));
  const put = (seq: number, note: string, account = ada) => account.put(`changes/${seq}/note`, { note });
  assert.equal((await put(1, 'Ours.')).status, 409, 'not proven');
  await ada.post('names/example.com/proof');
  const said = 'Moved & <b>done</b>, see https://example.com/ — \u05e9\u05dc\u05d5\u05dd \u2067x\u2069';
  const first = await put(1, `  ${said} `);
  assert.deepEqual(first.body, {
    ...{ seq: 1, hostname: 'example.com', name: 'example.com', note: said, shown: true },
    written_at: new Date(clock.now).toISOString(),
  });
  assert.equal((await put(2, 'Theirs.')).status, 409);
  assert.equal((await put(99, 'None.')).status, 404);
  for (const seq of ['0', '-1', '1.5', 'x', '9007199254740993']) {
    assert.equal((await ada.put(`changes/${seq}/note`, { note: 'x' })).status, 400, seq);
  }
  const bad = [
    '',
    '   ',
    'a\nb',
    'a\u0000b',
    'a\u202eb',
    '\u200b',
    'x'.repeat(281),
    '\ud800',
    `a${'\u0301'.repeat(200)}`,
    '\u2028',
  ];
  for (const note of bad) assert.equal((await put(1, note)).status, 400, JSON.stringify(note.slice(0, 20)));
  assert.equal((await put(1, '\u{1f980}'.repeat(280))).status, 200);
  assert.equal((await put(1, said)).status, 200);

  const changes = JSON.parse(await page('/changes.json', 'application/json')).items;
  const note = { name: 'example.com', text: said, written_at: new Date(clock.now).toISOString() };
  assert.deepEqual(
    changes.map((row: { owner_note?: object }) => row.owner_note),
    [undefined, note],
  );
  const html = await page('/t/example.com');
  assert.match(html, /The owner says/);
  assert.match(html, /<bdi>Moved &amp; &lt;b&gt;done&lt;\/b&gt;, see https:\/\/example\.com\//);
  assert.doesNotMatch(html, /href="https:\/\/example\.com\/"/);
  assert.match(await page('/changes/2026-11-21'), /The owner says/);

  // Another owner's newer note takes its place, and gives it back.
  clock.now += 1_000;
  await ben.post('names/example.com/proof');
  await put(1, 'We say otherwise.', ben);
  assert.match(await page('/t/example.com'), /We say otherwise/);
  assert.deepEqual((await ada.get('notes')).body.items[0].shown, false);
  assert.equal((await ben.del('changes/1/note')).status, 200);
  assert.equal((await ben.del('changes/1/note')).status, 404);
  assert.match(await page('/t/example.com'), /Moved/);

  // It goes with the proof, and is there again with it.
  const { owners } = app.store.records;
  const proof = owners.get(adaId, 'example.com');
  assert.ok(proof);
  owners.save({ ...proof, proven_at: null, due_at: null });
  assert.doesNotMatch(await page('/t/example.com'), /The owner says/);
  assert.equal((await ada.get('notes')).body.items[0].shown, false);
  owners.save(proof);
  assert.match(await page('/t/example.com'), /The owner says/);
  assert.equal((await ada.del('names/example.com')).status, 200);
  assert.doesNotMatch(await page('/t/example.com'), /The owner says/);
  assert.deepEqual((await ada.get('notes')).body.items, []);
});

test('checks are limited by account and day, one at a time', async (t) => {
  const zone = await ownerZone(t);
  const { ada, ben, app, clock, adaId } = await stand(t, zone.port);
  await ada.post('names', { hostname: 'example.com' });
  const parallel = await Promise.all(Array.from({ length: 20 }, () => ada.post('names/example.com/proof')));
  assert.deepEqual(Object.keys(statusesOf(parallel)).sort(), ['200', '503']);
  while (app.store.records.owners.use('check', adaId, clock.now, CHECKS_DAILY) !== null);
  assert.equal((await ada.post('names/example.com/proof')).status, 429);
  assert.equal((await ben.post('names/example.com/proof')).status, 200);
  for (let n = 0; n < 99; n++) app.store.records.owners.save({ ...proofOf(app, adaId), name: `n${n}.example` });
  assert.equal((await ada.post('names', { hostname: 'one-more.example' })).status, 409);
});

function proofOf(app: Awaited<ReturnType<typeof stand>>['app'], account: string) {
  const proof = app.store.records.owners.get(account, 'example.com');
  assert.ok(proof);
  return proof;
}
