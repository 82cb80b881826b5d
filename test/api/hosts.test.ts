import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Answer as Record } from 'dns-packet';
import { openAppContext } from '../../src/server/context.ts';
import { readSettings } from '../../src/server/env.ts';
import { envIn, tempFolder } from '../support/app-context.ts';
import { type Answer, ask } from '../support/http.ts';
import { answerTo, lyingServer } from '../support/lying-server.ts';
import { run } from '../support/program.ts';
import { receiver } from '../support/receiver.ts';
import { send } from '../support/send.ts';
import { serveHere } from '../support/serve-here.ts';
import { enterPapers } from '../support/small-papers.ts';
import { ONLY_WIDE } from '../support/wide.ts';

const ORIGIN = 'https://papers.example';
const NXDOMAIN = 3;

/** What a name server says: texts by name; every name without an underscore is this machine. */
type Texts = Map<string, string[]>;

async function nameServer(t: { after(work: () => unknown): void }, texts: Texts) {
  const server = await lyingServer(t, (heard) => {
    const { name = '', type } = heard.query.questions?.[0] ?? {};
    const answers: Record[] =
      type === 'TXT'
        ? (texts.get(name) ?? []).map((data) => ({ type: 'TXT', name, data }))
        : type === 'A' && !name.includes('_')
          ? [{ type: 'A', name, data: '127.0.0.1' }]
          : [];
    return [answerTo(heard, { answers, rcode: answers.length === 0 ? NXDOMAIN : 0 })];
  });
  /** What was asked since the last time, but for what was asked twice. */
  const asked = () => {
    const questions = server.heard.splice(0).map(({ query }) => query.questions?.[0]);
    return [...new Set(questions.map((question) => `${question?.type} ${question?.name}`))].sort();
  };
  return { at: `${server.address}:${server.port}`, asked };
}

/** What an answer says but for the names in it. */
function plain({ status, headers, text }: Answer, name: string) {
  const { date: _date, 'x-request-id': _id, 'content-length': _length, ...rest } = headers;
  return { status, headers: rest, text: text.replaceAll(name, 'NAME') };
}

test('an address of its own is a paper’s when its host is', async (t) => {
  const folder = tempFolder(t);
  const texts: Texts = new Map();
  const at = await receiver(t);
  const keys = await enterPapers(folder, [
    { slug: 'rocks' },
    { slug: 'shoals' },
    { slug: 'quiet', isPublic: false, url: 'https://quiet.example' },
    { slug: 'tides', url: 'https://tides.example' },
  ]);
  const env = { ORIGIN, DATA_ORIGIN: 'https://records.example', WEBHOOK_PRIVATE: 'allow' };
  const names = await nameServer(t, texts);
  const { url } = await serveHere(t, folder, { ...env, RESOLVERS: names.at });
  const put = (slug: string, body: object) =>
    send(url, {
      method: 'PUT',
      path: `/${slug}/api/v1/config`,
      headers: { 'x-nrf-key': keys.get(slug)?.admin ?? '' },
      body,
    });
  const paperAt = async (host: string, headers = {}): Promise<string | null> =>
    JSON.parse((await ask(url, '/api/v1', { host, ...headers })).text).paper ?? null;
  const ruleOf = (answer: Answer) => JSON.parse(answer.text).problems?.[0]?.rule;
  const proof = `${ORIGIN}/rocks`;

  await t.test('no address of the service is, and no IP address: other papers stay on the air there', async () => {
    for (const address of [
      ...[url, 'http://127.0.0.1', 'http://2130706433', 'http://[::1]', 'http://0x7f000001:80', 'http://localhost'],
      ...[
        ORIGIN,
        `${ORIGIN}/shoals`,
        'https://PAPERS.example.:8443',
        'https://records.example',
        'http://records.example/a',
      ],
    ]) {
      const answer = await put('rocks', { url: address });
      assert.deepEqual([answer.status, ruleOf(answer)], [422, 'host_unfit'], address);
    }
    for (const host of [new URL(url).host, 'localhost', 'papers.example', 'alias-of-the-service.example'])
      assert.equal((await ask(url, '/shoals/api/v1', { host })).status, 200, host);
    const alias = await put('rocks', { url: 'https://alias-of-the-service.example' });
    assert.deepEqual([alias.status, ruleOf(alias)], [422, 'host_unproven']);
    assert.equal((await ask(url, '/shoals/api/v1', { host: 'alias-of-the-service.example' })).status, 200);
  });

  await t.test(
    'a name that belongs to another paper, private or not, is indistinguishable from an unknown one',
    async () => {
      names.asked();
      const nobodys = await put('rocks', { url: 'https://nobody.example' });
      assert.equal(nobodys.status, 422);
      const looks = plain(nobodys, 'nobody.example');
      // Nor by how long it takes: the same is done for all.
      const work = ['A nobody.example', 'AAAA nobody.example', 'TXT _broadsheet.nobody.example'];
      assert.deepEqual(names.asked(), work);
      assert.equal((await put('rocks', { url: 'https://quiet.example' })).status, 422);
      assert.deepEqual(
        names.asked(),
        work.map((question) => question.replace('nobody', 'quiet')),
      );
      for (const name of ['quiet.example', 'tides.example'])
        for (const form of [name, name.toUpperCase(), `${name}.`, `${name}:443`])
          assert.deepEqual(plain(await put('rocks', { url: `https://${form}` }), name), looks, form);
      // Not even to who proves the name: its paper holds it.
      for (const name of ['quiet.example', 'tides.example']) {
        texts.set(`_broadsheet.${name}`, [`paper=${proof}`]);
        assert.deepEqual(plain(await put('rocks', { url: `https://${name}/` }), name), looks);
        assert.equal((await put('rocks', { url: `https://${name}/below` })).status, 422);
      }
      assert.equal(await paperAt('tides.example'), 'tides');
      assert.equal(await paperAt('quiet.example', { 'x-nrf-key': keys.get('quiet')?.read }), 'quiet');
    },
  );

  await t.test('a TXT record proves a name, for the paper that it says', async () => {
    const name = 'xn--zrich-kva.example';
    for (const text of [`paper=${ORIGIN}/shoals`, proof, `paper=${proof}x`, `x paper=${proof}`]) {
      texts.set(`_broadsheet.${name}`, [text]);
      assert.equal((await put('rocks', { url: 'https://zürich.example' })).status, 422, text);
    }
    texts.set(`_broadsheet.${name}`, ['v=spf1 -all', `paper=${proof}`]);
    assert.equal(await paperAt(name), null);
    const { status, text } = await put('rocks', { url: 'HTTPS://ZÜRICH.example.:443/' });
    assert.equal(status, 200, text);
    assert.equal(JSON.parse(text).url, `https://${name}`, 'as it was parsed');
    for (const host of [name, `${name}:443`, `${name}.`]) assert.equal(await paperAt(host), 'rocks', host);
    texts.clear();
    const again = await put('rocks', {
      ...JSON.parse(text),
      url: `https://${name}/`,
      pressed: undefined,
      files: undefined,
    });
    assert.equal(again.status, 200, 'what is proven stays so');
  });

  await t.test('a file proves a host; it is fetched like a webhook', async () => {
    const address = `http://file.example:${at.port}/daily`;
    const body = { text: '', status: 200, headers: {} };
    at.answer = (_request, response) => response.writeHead(body.status, body.headers).end(body.text);
    for (const [status, text, headers] of [
      [404, proof, {}],
      [200, `${ORIGIN}/shoals`, {}],
      [200, `<p>${proof}</p>`, {}],
      [200, `${proof}\n${'x'.repeat(10_000)}`, {}],
      [302, proof, { location: at.url }],
    ] as const) {
      Object.assign(body, { status, text, headers });
      assert.equal((await put('rocks', { url: address })).status, 422, `${status} ${text.slice(0, 60)}`);
    }
    assert.ok(
      at.got.every(({ path }) => path === '/.well-known/broadsheet-papers'),
      'no redirect is followed',
    );
    Object.assign(body, { status: 200, text: `# our papers\r\n${ORIGIN}/shoals\r\n${proof}\r\n`, headers: {} });
    assert.equal((await put('rocks', { url: address })).status, 200);
    assert.equal((await ask(url, '/daily/api/v1', { host: `file.example:${at.port}` })).status, 200);
    // One host may have several papers, none within another.
    for (const [path, status] of [
      ['', 422],
      ['/daily', 422],
      ['/daily/x', 422],
      ['/weekly', 200],
    ] as const)
      assert.equal((await put('shoals', { url: `http://file.example:${at.port}${path}` })).status, status, path);
  });

  await t.test('a key may have one host checked at a time', { skip: ONLY_WIDE }, async () => {
    at.answer = () => {};
    const slow = put('rocks', { url: `http://slow.example:${at.port}` });
    while (at.got.at(-1)?.headers.host !== `slow.example:${at.port}`) await new Promise((next) => setTimeout(next, 20));
    const second = await put('rocks', { url: 'https://nobody.example' });
    assert.deepEqual([second.status, second.headers['retry-after']], [503, '5']);
    assert.equal((await put('rocks', { motto: 'What stays as it is waits for nobody' })).status, 200);
    assert.equal((await slow).status, 422);
    assert.equal((await put('rocks', { url: 'https://nobody.example' })).status, 422);
  });

  await t.test('the operator grants and revokes hosts, and a running server follows', async () => {
    const env = { ORIGIN, DATA_ORIGIN: 'https://records.example' };
    const host = (...args: string[]) => run(t, folder, ['paper', 'host', ...args], env);
    assert.equal((await put('shoals', { url: 'https://shoals.example' })).status, 422);
    const given = await host('shoals', 'Shoals.Example.');
    assert.deepEqual([given.code, given.stderr], [0, '']);
    assert.match(given.stdout, /^shoals may be served at shoals\.example; set its url/);
    assert.equal(await paperAt('shoals.example'), null);
    assert.equal((await put('shoals', { url: 'https://shoals.example' })).status, 200);
    assert.equal(await paperAt('shoals.example'), 'shoals');
    const rows = JSON.parse((await host('--json')).stdout) as { paper: string; host: string; how: string }[];
    assert.deepEqual(
      rows.map(({ paper, host, how }) => `${paper} ${host} ${how}`).sort(),
      [
        'quiet quiet.example given',
        'rocks xn--zrich-kva.example txt',
        `rocks file.example:${at.port} file`,
        `shoals file.example:${at.port} file`,
        'shoals shoals.example given',
        'tides tides.example given',
      ].sort(),
    );
    assert.match((await host('quiet')).stdout, /^quiet {2}quiet\.example {2}given \d{4}-/);
    for (const [slug, name, why] of [
      ['shoals', '127.0.0.1', /is an IP address/],
      ['shoals', 'papers.example', /is on a host of this service/],
      ['shoals', 'https://a.example', /is not a host/],
      ['nobody', 'a.example', /there is no paper "nobody"/],
    ] as const) {
      const refused = await host(slug, name);
      assert.equal(refused.code, 1);
      assert.match(refused.stderr, why);
    }
    assert.match((await host('rocks', 'tides.example')).stdout, /^rocks may be served at/, 'below another path');
    assert.equal((await put('rocks', { url: 'https://tides.example' })).status, 422);

    assert.equal(
      (await host('shoals', 'shoals.example', '--remove')).stdout,
      'shoals is no longer served at shoals.example\n',
    );
    assert.equal(await paperAt('shoals.example'), null);
    const { text } = await ask(url, '/shoals/api/v1');
    assert.equal(JSON.parse(text).home, 'https://shoals.example/', 'its address stays what links start with');
    assert.equal(
      (await put('shoals', { motto: 'Twice', url: 'https://shoals.example' })).status,
      200,
      'it may be sent back',
    );
    assert.equal((await host('shoals', 'shoals.example', '--remove')).code, 1);
    // Now the name is nobody's.
    texts.set('_broadsheet.shoals.example', [`paper=${proof}`]);
    assert.equal((await put('rocks', { url: 'https://shoals.example' })).status, 200);
    assert.equal(await paperAt('shoals.example'), 'rocks');
  });
});

test('only public hosts are checked for proofs, unless the settings say otherwise', async (t) => {
  const folder = tempFolder(t);
  const at = await receiver(t);
  const keys = await enterPapers(folder, [{ slug: 'rocks' }]);
  at.answer = (_request, response) => response.writeHead(200).end(`${ORIGIN}/rocks\n`);
  const { url } = await serveHere(t, folder, { ORIGIN, RESOLVERS: (await nameServer(t, new Map())).at });
  const { status } = await send(url, {
    method: 'PUT',
    path: '/rocks/api/v1/config',
    headers: { 'x-nrf-key': keys.get('rocks')?.admin ?? '' },
    body: { url: `http://inside.example:${at.port}` },
  });
  assert.deepEqual([status, at.connections], [422, 0]);
});

test('doctor names a paper served on the service’s own host, and one not served at its address', async (t) => {
  const folder = tempFolder(t);
  await enterPapers(folder, [{ slug: 'tides', url: 'https://tides.example' }]);
  const look = async (env: { [name: string]: string }) => {
    const { stdout } = await run(t, folder, ['doctor', '--json'], {
      RESOLVERS: '127.0.0.1:9',
      SERVICES: 'desk',
      ...env,
    });
    const { findings } = JSON.parse(stdout) as { findings: { name: string; state: string; cure?: string }[] };
    return findings.find(({ name }) => name === 'hosts of papers');
  };
  assert.equal((await look({ ORIGIN }))?.state, 'holds');
  const unfit = await look({ ORIGIN: 'https://tides.example:8443' });
  assert.equal(unfit?.state, 'fault');
  assert.match(unfit?.cure ?? '', /`npm run -s broadsheet -- paper host tides tides\.example --remove`/);
  assert.equal((await run(t, folder, ['paper', 'host', 'tides', 'tides.example', '--remove'])).code, 0);
  assert.equal((await look({ ORIGIN }))?.state, 'open');
});

test('a ledger brings the hosts of its papers, and paper.yaml gives one', async (t) => {
  const [folder, other] = [tempFolder(t), tempFolder(t)];
  await enterPapers(folder, [
    { slug: 'inside', url: 'http://192.0.2.7' },
    { slug: 'tides', url: 'https://tides.example' },
  ]);
  const file = `${folder}/ledger.jsonl`;
  assert.equal((await run(t, folder, ['ledger', 'export', file])).code, 0);
  assert.equal((await run(t, other, ['ledger', 'import', file, '--no-press'])).code, 0);
  for (const data of [folder, other]) {
    const rows = JSON.parse((await run(t, data, ['paper', 'host', '--json'])).stdout) as { paper: string }[];
    assert.deepEqual(
      rows.map(({ paper }) => paper),
      ['tides'],
      'an IP address is no host, whoever says so',
    );
  }
  await assert.rejects(
    enterPapers(folder, [{ slug: 'twin', url: 'https://tides.example/twin' }]),
    /is the address of tides, or lies within it/,
  );
});

test('papers keep hosts from before hosts were granted', async (t) => {
  const folder = tempFolder(t);
  await enterPapers(folder, [{ slug: 'rocks' }, { slug: 'tides', url: 'https://tides.example' }]);
  const settings = readSettings(envIn(folder));
  // As an older program left it: paper.yaml's address as it was typed, and no table of hosts.
  const { default: Database } = await import('libsql');
  const db = new Database(`${folder}/var/broadsheet.db`);
  const set = db.prepare("UPDATE papers SET body = json_set(body, '$.url', ?) WHERE slug = ?");
  set.run('https://Zürich.Example.:443/daily', 'tides');
  set.run('http://127.0.0.1:8080', 'rocks');
  db.exec("DROP TABLE paper_hosts; DELETE FROM migrations WHERE name = '060-hosts.sql'");
  db.close();
  const app = openAppContext(settings);
  t.after(() => app.close());
  assert.deepEqual(
    app.store.desk.hosts
      .all()
      .map(({ paper, host, how }) => [paper, host, how])
      .sort(),
    [
      ['rocks', '127.0.0.1:8080', 'given'],
      ['tides', 'xn--zrich-kva.example', 'given'],
    ],
  );
  assert.ok(app.store.desk.hosts.remove('tides', 'xn--zrich-kva.example'));
});
