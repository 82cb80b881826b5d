import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { XMLParser } from 'fast-xml-parser';
import { type AccountStand, accountStand, type Visitor } from '../../../support/account-fixture.ts';
import { ask } from '../../../support/http.ts';
import { probe } from '../../../support/probes.ts';
import { until } from '../../../support/program.ts';
import { type Received, receiver } from '../../../support/receiver.ts';
import { send } from '../../../support/send.ts';

const EMAIL = 'ada@example.org';
const KEY = 'samplekeyheresamplekeyheresample';
const HOSTILE = '<!channel> @everyone ``` **x** [x](https://evil.example) \u202e';

/** What each service answers to a body that it takes, as documented. */
const ANSWERS: Record<string, [status: number, body: string]> = {
  '/hook/slack': [200, 'ok'],
  '/hook/discord': [204, ''],
  '/hook/teams': [202, ''],
  '/hook/pagerduty': [202, '{"status":"success","message":"Event processed","dedup_key":"x"}'],
  '/hook/own': [204, ''],
};

async function services(t: { after(work: () => unknown): void }) {
  const at = await receiver(t as never);
  at.answer = (_request, response, { path }) => {
    const [status, body] = ANSWERS[path] ?? [404, ''];
    response.writeHead(status).end(body);
  };
  const bodies = (path: string) => at.got.filter((one) => one.path === `/hook${path}`);
  return { at, bodies };
}

function keyOf({ keyOf: make }: AccountStand): Record<string, string> {
  return { 'X-Service-Key': make('account', EMAIL), 'Content-Type': 'application/json' };
}

const json = ({ body }: Received) => JSON.parse(body);

describe('alerts for chats and PagerDuty', () => {
  it('each gets its own body for the same change, over HTTP, and a test', async (t) => {
    const stand = await accountStand(t, { WEBHOOK_PRIVATE: 'allow' });
    const { clock, url } = stand;
    const { at, bodies } = await services(t);
    for (const host of ['www.example.com', 'api.example.com']) {
      stand.enter(probe(host, clock.now, { TXT: ['v=spf1 -all'] }));
    }
    const headers = keyOf(stand);
    const make = (body: object) => send(url, { method: 'POST', path: '/v1/account/alerts', headers, body });
    const group = JSON.parse(
      (await send(url, { method: 'POST', path: '/v1/account/groups', headers, body: { name: 'Ours' } })).text,
    ).id;
    const watch = { hostnames: ['www.example.com', 'api.example.com'], group };
    assert.equal((await send(url, { method: 'POST', path: '/v1/account/watch', headers, body: watch })).status, 201);
    for (const format of ['slack', 'discord', 'teams', 'pagerduty', 'own']) {
      const more = format === 'own' ? {} : { format, ...(format === 'pagerduty' ? { routing_key: KEY } : {}) };
      const made = await make({ group, way: 'webhook', url: `${at.url}/${format}`, ...more });
      assert.equal(made.status, 201, made.text);
      const row = JSON.parse(made.text);
      assert.equal(row.format, format === 'own' ? 'standard' : format);
      assert(!made.text.includes(KEY), 'the integration key is not shown');
      const tested = await send(url, { method: 'POST', path: `/v1/account/alerts/${row.id}/test`, headers, body: {} });
      assert.equal(tested.status, 200, tested.text);
    }
    await until(() => (at.got.length === 5 ? true : null));
    const [firstTest] = bodies('/pagerduty');
    assert.equal(json(firstTest as Received).payload.severity, 'info');
    assert.match(bodies('/slack')[0]?.body ?? '', /Test of an alert: nothing has changed/);
    assert.match(bodies('/own')[0]?.headers['webhook-signature']?.toString() ?? '', /^v1,/);

    for (const host of ['www.example.com', 'api.example.com']) {
      stand.enter(probe(host, clock.now + 1_000, { TXT: [HOSTILE] }));
    }
    // An event of PagerDuty is of one hostname. The others may come together or one by one.
    await until(() => (bodies('/pagerduty').length === 3 ? true : null));
    const sources = bodies('/pagerduty')
      .slice(1)
      .map((one) => json(one).payload.source);
    assert.deepEqual(sources.toSorted(), ['api.example.com', 'www.example.com']);
    for (const event of bodies('/pagerduty').slice(1).map(json)) {
      assert.deepEqual([event.routing_key, event.event_action, event.payload.severity], [KEY, 'trigger', 'warning']);
      assert.match(event.payload.summary, /^(?:www|api)\.example\.com changed: TXT changed: v=spf1 -all → <!channel>/);
    }
    for (const format of ['slack', 'discord', 'teams', 'own']) {
      await until(() => {
        const all = bodies(`/${format}`)
          .slice(1)
          .map(({ body }) => body)
          .join('');
        return all.includes('www.example.com') && all.includes('api.example.com') ? true : null;
      });
    }
    for (const { body } of bodies('/discord').slice(1))
      assert.deepEqual(JSON.parse(body).allowed_mentions, { parse: [] });

    const { items } = JSON.parse((await ask(url, '/v1/account/alerts', headers)).text);
    for (const { id } of items) {
      await until(async () => {
        const { deliveries } = JSON.parse((await ask(url, `/v1/account/alerts/${id}`, headers)).text);
        return deliveries.every(({ state }: { state: string }) => state === 'delivered') ? true : null;
      });
    }
  });

  it('a service that fails is asked again with the same bytes, and PagerDuty sees one event', async (t) => {
    const stand = await accountStand(t, { WEBHOOK_PRIVATE: 'allow' });
    const { clock, url } = stand;
    const { at, bodies } = await services(t);
    stand.enter(probe('www.example.com', clock.now, { A: ['192.0.2.1'] }));
    const body = {
      hostname: 'www.example.com',
      way: 'webhook',
      url: `${at.url}/pagerduty`,
      format: 'pagerduty',
      routing_key: KEY,
    };
    const headers = keyOf(stand);
    assert.equal((await send(url, { method: 'POST', path: '/v1/account/alerts', headers, body })).status, 201);
    const answer = at.answer;
    at.answer = (_request, response) => response.writeHead(429, { 'Retry-After': '1' }).end();
    stand.enter(probe('www.example.com', clock.now + 1_000, { A: ['192.0.2.2'] }));
    await until(() => (bodies('/pagerduty').length === 1 ? true : null));
    at.answer = answer;
    await until(() => {
      clock.now += 5_000;
      return bodies('/pagerduty').length === 2 ? true : null;
    });
    const [first, second] = bodies('/pagerduty');
    assert.equal(first?.body, second?.body);
    assert.equal(JSON.parse(first?.body ?? '').dedup_key, first?.headers['webhook-id']);
  });

  it('an incident of PagerDuty is one key: it ends when the answer is as expected again, in the order of events', async (t) => {
    const stand = await accountStand(t, { WEBHOOK_PRIVATE: 'allow' });
    const { clock, url } = stand;
    const { at, bodies } = await services(t);
    const see = (A: string) => stand.enter(probe('www.example.com', clock.now + 1_000, { A: [A] }));
    see('192.0.2.1');
    const headers = keyOf(stand);
    const call = async (method: string, path: string, body: object) => {
      const { status, text } = await send(url, { method, path: `/v1/account/${path}`, headers, body });
      assert(status < 300, text);
    };
    const alert = { hostname: 'www.example.com', way: 'webhook', format: 'pagerduty', routing_key: KEY };
    await call('POST', 'alerts', { ...alert, url: `${at.url}/pagerduty` });
    const expect = (A: string) => call('PUT', 'expectations', { names: { 'www.example.com': { A: { values: [A] } } } });
    await expect('192.0.2.1');

    // The first event fails, and the incident is over before it is sent again.
    const answer = at.answer;
    at.answer = (_request, response) => response.writeHead(503).end();
    see('192.0.2.9');
    await until(() => (bodies('/pagerduty').length === 1 ? true : null));
    at.answer = answer;
    see('192.0.2.1');
    await until(() => (stand.app.store.records.expectations.isQueueing() ? null : true));
    const sent = async (count: number) => {
      await until(() => {
        clock.now += 5_000;
        return bodies('/pagerduty').length === count ? true : null;
      });
      return bodies('/pagerduty').map(json);
    };
    const [failed, trigger, resolve] = await sent(3);
    assert.deepEqual(trigger, failed);
    assert.deepEqual([trigger.event_action, trigger.payload.severity], ['trigger', 'error']);
    assert.deepEqual(resolve, { routing_key: KEY, event_action: 'resolve', dedup_key: trigger.dedup_key });

    // Another answer is the same incident; a rule that takes it ends it, and so does a planned change.
    see('192.0.2.8');
    see('192.0.2.9');
    await expect('192.0.2.9');
    see('192.0.2.7');
    await call('POST', 'expectations', {
      names: { 'www.example.com': { A: { values: ['192.0.2.6'] } } },
      until: new Date(clock.now + 3_600_000).toISOString(),
    });
    see('192.0.2.6');
    const events = (await sent(8)).slice(3);
    assert.deepEqual(
      events.map(({ event_action }) => event_action),
      ['trigger', 'trigger', 'resolve', 'trigger', 'resolve'],
    );
    for (const { dedup_key } of events) assert.equal(dedup_key, trigger.dedup_key);
  });

  it('what is no format, no key or no address is refused by name, on the page too', async (t) => {
    const stand = await accountStand(t);
    const { clock, url } = stand;
    stand.enter(probe('www.example.com', clock.now, { A: ['192.0.2.1'] }));
    const headers = keyOf(stand);
    const base = { hostname: 'www.example.com', way: 'webhook' };
    for (const [more, field] of [
      [{ url: 'https://h.example.org/', format: 'xmpp' }, 'format'],
      [{ url: 'https://h.example.org/', format: 'pagerduty' }, 'routing_key'],
      [{ url: 'https://h.example.org/', format: 'pagerduty', routing_key: 'short' }, 'routing_key'],
      [{ url: 'https://h.example.org/', format: 'pagerduty', routing_key: `${KEY}\u0000` }, 'routing_key'],
      [{ url: 'https://h.example.org/', format: 'slack', routing_key: KEY }, 'routing_key'],
      [{ url: 'https://events.pagerduty.com/v2/enqueue' }, 'routing_key'],
      [{ way: 'instant', routing_key: KEY }, 'routing_key'],
      [{ url: 'http://127.0.0.1/', format: 'slack' }, 'url'],
      [{ format: 'discord' }, 'url'],
    ] as const) {
      const answer = await send(url, {
        method: 'POST',
        path: '/v1/account/alerts',
        headers,
        body: { ...base, ...more },
      });
      assert.deepEqual([answer.status, JSON.parse(answer.text).field], [400, field], answer.text);
      assert(!answer.text.includes(KEY), 'a key is not repeated');
    }
    const visitor = await stand.signIn(EMAIL);
    const form = { group: '', hostname: 'www.example.com', way: 'webhook', url: '', format: 'pagerduty' };
    const refused = await visitor.submit('/account/alerts', '/account/alerts', { ...form, routing_key: 'short' });
    assert.equal(refused.status, 400);
    assert.match(refused.text, /must be the 32 letters and digits/);
    const made = await visitor.submit('/account/alerts', '/account/alerts', { ...form, routing_key: KEY });
    assert.equal(made.status, 303, made.text);
    const page = await visitor.get(String(made.headers.location));
    assert.match(page.text, /events for PagerDuty/);
    assert.match(page.text, /https:\/\/events\.pagerduty\.com\/v2\/enqueue/);
    assert.doesNotMatch(page.text, new RegExp(KEY));
    assert.doesNotMatch(page.text, /New secret/);
  });
});

describe('the private feed of a group', () => {
  const groupOf = async (visitor: Visitor, ...hostnames: string[]): Promise<string> => {
    const made = await visitor.submit('/account/groups', '/account/groups', { name: 'Ours & <theirs>' });
    const path = new URL(String(made.headers.location), 'http://x').pathname;
    await visitor.submit(path, path, { hostnames: hostnames.join('\n') });
    return path;
  };

  it('has the changes of that group, for whoever has its address, until it is renewed or ended', async (t) => {
    const stand = await accountStand(t);
    const { clock, url } = stand;
    for (const host of ['www.example.com', 'other.example.com']) stand.enter(probe(host, clock.now, { TXT: ['one'] }));
    const visitor = await stand.signIn(EMAIL);
    const path = await groupOf(visitor, 'www.example.com');
    for (const host of ['www.example.com', 'other.example.com']) {
      stand.enter(probe(host, clock.now + 1_000, { TXT: ['</title>]]> & <b>'] }));
    }
    const addressOf = async (): Promise<string> =>
      /id="feed-url"[^>]*>([^<]+)</.exec((await visitor.get(path)).text)?.[1] ?? '';
    assert.equal(await addressOf(), '');
    await visitor.submit(path, `${path}/feed`);
    const first = await addressOf();
    const read = (address: string, headers = {}) => ask(url, new URL(address).pathname, headers);

    const feed = await read(first);
    assert.equal(feed.status, 200);
    assert.match(String(feed.headers['cache-control']), /^private/);
    assert.equal(feed.headers['x-robots-tag'], 'noindex');
    const { channel } = new XMLParser().parse(feed.text).rss;
    assert.equal(channel.title, 'Domain Records: Ours & <theirs>');
    const items = [channel.item].flat();
    assert.deepEqual(
      items.map(({ link }) => new URL(link).pathname),
      ['/t/www.example.com'],
    );
    assert.match(items[0].title, /TXT changed: one → <\/title>\]\]> & <b>/);
    assert.equal((await read(first, { 'If-None-Match': String(feed.headers.etag) })).status, 304);

    // Another token, another file, or a cookie alone opens nothing.
    for (const wrong of [
      first.replace(/.\.rss$/, (end) => (end[0] === 'A' ? 'B.rss' : 'A.rss')),
      `${first}x`,
      first.replace(/\.rss$/, ''),
    ]) {
      assert.equal((await read(wrong)).status, 404, wrong);
    }
    await visitor.submit(path, `${path}/feed`);
    const second = await addressOf();
    assert.notEqual(second, first);
    assert.deepEqual([(await read(first)).status, (await read(second)).status], [404, 200]);
    await visitor.submit(path, `${path}/feed/end`);
    assert.equal((await read(second)).status, 404);
  });

  it('goes with its group, and is no business of another account', async (t) => {
    const stand = await accountStand(t);
    const { clock, url, keyOf: make } = stand;
    stand.enter(probe('www.example.com', clock.now, { A: ['192.0.2.1'] }));
    const headers = keyOf(stand);
    const post = (path: string, more: object = headers) =>
      send(url, { method: 'POST', path, headers: more as never, body: {} });
    const { id } = JSON.parse(
      (await send(url, { method: 'POST', path: '/v1/account/groups', headers, body: { name: 'Ours' } })).text,
    );
    const stranger = { 'X-Service-Key': make('account', 'ben@example.org') };
    assert.equal((await post(`/v1/account/groups/${id}/feed`, stranger)).status, 404);
    const { feed_url } = JSON.parse((await post(`/v1/account/groups/${id}/feed`)).text);
    const path = new URL(feed_url).pathname;
    assert.equal((await ask(url, path)).status, 200);
    assert.equal((await send(url, { method: 'DELETE', path: `/v1/account/groups/${id}`, headers })).status, 200);
    assert.equal((await ask(url, path)).status, 404);
    assert.equal((await send(url, { method: 'DELETE', path: `/v1/account/groups/${id}/feed`, headers })).status, 404);
  });
});
