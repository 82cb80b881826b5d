import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { tempFolder, treeOf } from '../support/app-context.ts';
import { seatAt } from '../support/console-seat.ts';
import { run } from '../support/program.ts';
import { serveHere } from '../support/serve-here.ts';
import { enterPapers, storyBody } from '../support/small-papers.ts';

/** Both papers cite it. */
const KEY = 'vault-opened';
/** Words that only the private paper has. */
const SECRET = /zephyrine|quagmire|xanadu|mnemosyne|hidden-vault|only-here/i;

test('of a fact that a private paper cites by the key of a public one, the public one and its lists say nothing', async (t) => {
  const folder = tempFolder(t);
  const keys = await enterPapers(folder, [{ slug: 'tides' }, { slug: 'quiet', isPublic: false }]);
  const { url } = await serveHere(t, folder, { CARDS: 'off' });
  const ask = async (path: string, key?: string, method = 'GET', body?: object) => {
    const headers = { ...(key && { 'x-nrf-key': key }), 'content-type': 'application/json', accept: '*/*' };
    const response = await fetch(`${url}${path}`, { method, headers, ...(body && { body: JSON.stringify(body) }) });
    return { status: response.status, text: await response.text() };
  };
  const file = async (paper: string, slug: string, facts: object[]) => {
    const cited_facts = facts.map((fact) => ({ source: 'Harbour Office', instrument: 'A map', ...fact }));
    const prose = cited_facts.map((_fact, at) => `So.[^${at + 1}]`).join(' ');
    const admin = keys.get(paper)?.admin;
    const filed = await ask(`/${paper}/api/v1/stories`, admin, 'POST', { ...storyBody(slug), prose, cited_facts });
    assert.equal(filed.status, 201, filed.text);
    const aired = await ask(`/${paper}/api/v1/stories/${slug}/airing`, admin, 'POST', {});
    assert.equal(aired.status, 200, aired.text);
  };
  await file('tides', 'the-vault', [
    { claim_key: KEY, statement: 'The vault was opened.' },
    { source: 'NIST', statement: 'It has two locks.' },
  ]);
  const instrument = 'https://xanadu.example/vault';
  await file('quiet', 'hidden-vault', [
    { claim_key: KEY, statement: 'The zephyrine vault was opened.', source: 'Quagmire Office', instrument },
    { claim_key: 'only-here', statement: 'Mnemosyne has its key.' },
  ]);
  const note = 'Mnemosyne said so.';
  const corrected = await ask(`/quiet/api/v1/facts/${KEY}`, keys.get('quiet')?.admin, 'PUT', {
    version: 1,
    statement: 'The zephyrine vault was shut.',
    note,
  });
  assert.equal(corrected.status, 200, corrected.text);
  assert.match(corrected.text, /hidden-vault/);

  const { admin, agent, read } = keys.get('tides') ?? assert.fail();
  const ofPaper = [
    ...['facts', 'facts?q=vault', 'facts?q=key', 'facts?status=corrected', `facts/${KEY}`],
    ...['cited-facts?q=vault', 'cited-facts?q=key', 'search?q=vault', 'search?q=key'],
    ...['stories', 'stories/the-vault', 'front', 'posts'],
    ...[
      'evidence',
      'drafts',
      'activity',
      'counts',
      'deliveries',
      'subscribers/export',
      'media',
      'stories/the-vault/proof',
    ],
  ].map((path) => `/tides/api/v1/${path}`);
  const pages = [
    '/',
    '/opml.xml',
    '/robots.txt',
    '/health',
    '/sitemap.xml',
    '/llms.txt',
    '/.well-known/api-catalog',
    '/log/',
  ];
  for (const path of [...ofPaper, ...pages]) {
    for (const key of [undefined, read, agent, admin]) {
      const { text } = await ask(path, key);
      assert.doesNotMatch(text, SECRET, path);
    }
  }
  for (const path of [
    'facts?q=zephyrine',
    'facts?source=Quagmire+Office',
    'cited-facts?q=zephyrine',
    'search?q=mnemosyne',
  ])
    for (const key of [undefined, admin]) {
      const found = JSON.parse((await ask(`/tides/api/v1/${path}`, key)).text);
      assert.deepEqual(found.facts ?? found.stories ?? found.results, [], path);
    }
  for (const path of ['facts/only-here', 'stories/hidden-vault'])
    for (const key of [undefined, admin]) assert.equal((await ask(`/tides/api/v1/${path}`, key)).status, 404, path);
  const listed = JSON.parse((await ask(`/tides/api/v1/facts/${KEY}`, admin)).text);
  assert.deepEqual([listed.fact.version, listed.versions.length, listed.cited_by.length], [1, 1, 1]);

  for (const [name, given] of [
    ['find_facts', { q: 'vault' }],
    ['find_facts', { q: 'key' }],
    ['find_facts', { q: 'vault', scope: 'pieces' }],
    ['search_stories', { q: 'vault' }],
    ['read_front', {}],
    ['list_drafts', {}],
  ] as const) {
    const message = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: given } };
    for (const key of [undefined, admin]) {
      const { text } = await ask('/tides/mcp', key, 'POST', message);
      assert.doesNotMatch(text, SECRET, `${name} ${JSON.stringify(given)}`);
    }
  }

  const seat = seatAt(url, folder, 'tides', 'admin');
  for (const path of ['', 'pieces', 'facts', 'facts?q=vault', 'facts?status=corrected', `facts/${KEY}`, 'activity'])
    assert.doesNotMatch((await seat.get(path)).html, SECRET, `console/${path}`);

  // Without a key, a private paper looks like one that does not exist.
  const there = (path: string) => ask(`/quiet/${path}`);
  const nowhere = async (path: string) => ask(`/nobody/${path}`);
  for (const path of [
    'api/v1/facts',
    `api/v1/facts/${KEY}`,
    `facts/${KEY}/`,
    `facts/${KEY}.json`,
    'facts/',
    'sources/',
    'corrections/',
    'rss.xml',
    'sitemap.xml',
  ]) {
    const [found, none] = [await there(path), await nowhere(path)];
    assert.doesNotMatch(found.text, SECRET, path);
    assert.equal(found.status, none.status, path);
    assert.doesNotMatch((await ask(`/quiet/${path}`, admin)).text, SECRET, `${path} with a key to another paper`);
  }

  for (const of of [
    ['list', '--paper', 'tides', '--json'],
    ['list', '--paper', 'tides', '--q', 'vault'],
    ['show', KEY, '--paper', 'tides', '--json'],
  ]) {
    const { stdout, stderr } = await run(t, folder, ['fact', ...of]);
    assert.match(stdout, /vault/, stderr);
    assert.doesNotMatch(stdout, SECRET, of.join(' '));
  }
  for (const place of ['papers', 'log']) {
    const tree = treeOf(join(folder, place));
    assert.ok(place === 'log' || [...tree.keys()].some((path) => path.endsWith(`facts/${KEY}.json`)));
    for (const [path, bytes] of tree) assert.doesNotMatch(`${path}\n${bytes}`, SECRET, path);
  }
});
