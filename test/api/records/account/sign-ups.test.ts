import assert from 'node:assert/strict';
import { test } from 'node:test';
import pino from 'pino';
import { listenRecords } from '../../../../api/server.ts';
import { requestSignIn } from '../../../../src/records/accounts/sign-in.ts';
import { openAppContext } from '../../../../src/server/context.ts';
import { linkToken } from '../../../../src/shared/access-key.ts';
import { linkKey } from '../../../../src/shared/files/data-folder.ts';
import { SIGN_UPS_MAX } from '../../../../src/shared/limits.ts';
import { newId } from '../../../../src/shared/new-id.ts';
import { Visitor } from '../../../support/account-fixture.ts';
import { recordsStand } from '../../../support/records-fixture.ts';

const DAY = 86_400_000;

test('one network creates a limited number of accounts per day, in any order of 50 requests', async (t) => {
  const { app, url, clock } = await recordsStand(t, { TRUSTED_PROXIES: '127.0.0.1' });
  const elsewhere = openAppContext(app.settings, app.clock.now);
  const served = await listenRecords(elsewhere, pino({ level: 'silent' }));
  t.after(async () => {
    await served.close();
    elsewhere.close();
  });
  const secret = linkKey(app.settings, 'accounts');
  const linkFor = (email: string): string => {
    const id = newId();
    requestSignIn(app.store.records, email, { now: app.clock.now, newId: () => id, secret });
    return linkToken(secret, 'sign-in', id);
  };
  const enter = (at: string, token: string, address: string) =>
    new Visitor(at, app.settings.dataOrigin).post('/account/enter', { token }, { 'x-forwarded-for': address });
  const known = (email: string) => app.store.records.accounts.byEmail(email) !== null;

  const links = Array.from({ length: 50 }, (_, n) => linkFor(`n${n}@example.org`));
  const answers = await Promise.all(
    links.map((token, n) => enter(n % 2 === 0 ? url : served.url, token, `192.0.2.${n + 1}`)),
  );
  assert.equal(answers.filter(({ status }) => status === 303).length, SIGN_UPS_MAX);
  const refused = answers.findIndex(({ status }) => status !== 303);
  const { status, headers, text } = answers[refused] ?? assert.fail();
  assert.equal(status, 429);
  assert.equal(headers['retry-after'], String((Math.ceil(clock.now / DAY) * DAY - clock.now) / 1_000));
  assert.match(text, /Your network created 20 accounts today, which is the limit; ask for a link again after 20/);
  assert.equal(headers['set-cookie'], undefined);
  assert.equal(known(`n${refused}@example.org`), false);

  // The link was not used up, and holds from elsewhere; who has an account gets in from anywhere.
  assert.equal((await enter(url, links[refused] ?? '', '198.51.100.1')).status, 303);
  assert.equal((await enter(url, linkFor(`n${refused}@example.org`), '192.0.2.1')).status, 303);

  // An IPv6 network is a /48.
  for (let n = 0; n < SIGN_UPS_MAX; n++) {
    assert.equal((await enter(url, linkFor(`v${n}@example.org`), `2001:db8:1:${n.toString(16)}::1`)).status, 303);
  }
  const sixth = linkFor('six@example.org');
  assert.equal((await enter(url, sixth, '2001:db8:1:ffff::1')).status, 429);
  assert.equal((await enter(url, sixth, '2001:db8:2::1')).status, 303);

  clock.now += DAY;
  assert.equal((await enter(url, linkFor('tomorrow@example.org'), '192.0.2.1')).status, 303);
});
