import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { endSessions, firstSeatLinks, listSessions, operatorLink } from '../../src/desk/console/operator.ts';
import { type ConsoleDesk, consoleDesk, ORIGIN, sentTo, tokenIn } from '../support/console-desk.ts';

describe('an operator and a console', () => {
  const endings: (() => unknown)[] = [];
  let desk: ConsoleDesk;
  before(async () => {
    desk = await consoleDesk({ after: (work) => void endings.unshift(work) }, [
      { slug: 'tides' },
      { slug: 'buoys' },
      { slug: 'harbor', url: 'https://harbor.example' },
      { slug: 'elsewhere', url: 'https://elsewhere.example', isPublic: false },
      { slug: 'zest' },
    ]);
  });
  after(async () => {
    for (const end of endings) await end();
  });

  it('a start prints links for three papers that never had a seat, and counts the others', () => {
    const { links, more } = firstSeatLinks(desk.app);
    assert.deepEqual(
      links.map(({ paper, url }) => [paper, url.replace(/token=[\w-]{43}$/, 'token=…')]),
      [
        ['buoys', `${ORIGIN}/buoys/console/first?token=…`],
        ['elsewhere', `${ORIGIN}/elsewhere/console/first?token=…`],
        ['harbor', 'https://harbor.example/console/first?token=…'],
      ],
    );
    assert.equal(more, 2);
  });

  it('a paper that had a seat is printed no link for the first, even when the seat is gone', () => {
    assert.match(operatorLink(desk.app, 'zest', undefined).url, /\/zest\/console\/first\?token=/);
    const { made } = desk.seat('ada@example.org', 'admin', 'zest');
    desk.app.store.desk.keys.revoke('zest', made.id, desk.clock.now, 'cli');
    assert.throws(() => operatorLink(desk.app, 'zest', undefined), /zest has had a seat; say whose link.*seat list/);
    assert.throws(() => operatorLink(desk.app, 'zest', 'ada@example.org'), /has no seat on zest/);
    assert.throws(() => operatorLink(desk.app, 'nowhere', undefined), /there is no paper "nowhere"/);
  });

  it('a link for a seat signs in, and its sessions are listed and ended', async () => {
    desk.seat('bea@example.org', 'read');
    const { url, seat } = operatorLink(desk.app, 'tides', 'Bea@example.org');
    assert.equal(seat, 'bea@example.org');
    const visitor = desk.visitor();
    assert.equal((await visitor.post('/tides/console/enter', { token: tokenIn(url) })).status, 303);
    const [row] = listSessions(desk.app, 'tides');
    assert.deepEqual([row?.seat, row?.began], ['bea@example.org', 'link']);
    assert.throws(() => endSessions(desk.app, 'tides', 'none'), /has no session "none".*session list/);
    assert.equal(endSessions(desk.app, 'buoys', null), 0);
    assert.equal(endSessions(desk.app, 'tides', row?.id ?? ''), 1);
    assert.notEqual(await sentTo(visitor), null);
    const did = desk.app.store.desk.activity.list('tides', { limit: 10 }).map(({ action, who }) => [action, who]);
    assert.deepEqual(did.slice(0, 2), [
      ['session.ended', 'cli'],
      ['session.begun', row?.key],
    ]);
  });
});
