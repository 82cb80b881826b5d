import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import Parser from 'rss-parser';
import type { Channel } from '../../../src/desk/press/feeds/channel.ts';
import { jsonFeed } from '../../../src/desk/press/feeds/json-feed.ts';
import { podcast } from '../../../src/desk/press/feeds/podcast.ts';
import { rss } from '../../../src/desk/press/feeds/rss.ts';
import { TABLES } from '../../../src/phrases/tables.ts';
import { tempFolder } from '../../support/app-context.ts';
import { cast, channel, item } from './fixtures.ts';

const HERE = fileURLToPath(new URL('.', import.meta.url));
const CAST_OPTIONS = { cover_url: `${channel.root}/icons/podcast-cover.png`, identity: 'abc' };

/** Names that somebody may bear, and what every reader of feeds must make of them. */
const NAMES: Readonly<Record<string, string>> = {
  'Dayo Ettridge': 'Dayo Ettridge',
  'Kai (Night Desk)': 'Kai [Night Desk]',
  '@mara': '＠mara',
};
const PERSONAS = Object.keys(NAMES).map((name, at) => item({ id: `p${at}`, byline: { name, title: 'Tides Desk' } }));
const PEOPLE = Object.keys(NAMES).map((name, at) => item({ id: `w${at}`, writers: [{ name }] }));

interface Authors {
  channel: string[];
  items: string[][];
}

/** Every feed of a paper in one language, with the authors that a reader should find. */
const FEEDS = Object.entries(TABLES).flatMap(([language, { byline }]) => {
  const where: Channel = { ...channel, paper: { ...channel.paper, language, nameplate: 'Ledger (Sunday)' } };
  const label = byline.declared.replace('{name}', '');
  const items = [
    ...Object.values(NAMES).map((name) => [`${name}${label}`]),
    ...Object.values(NAMES).map((name) => [name]),
  ];
  const all = byline.declared_all.replace('{paper}', 'Ledger [Sunday]');
  return [
    { kind: 'rss', text: rss(where, [...PERSONAS, ...PEOPLE], { path: 'rss.xml' }), authors: { channel: [], items } },
    { kind: 'podcast', text: podcast(where, [cast()], CAST_OPTIONS), authors: { channel: [all], items: [[]] } },
    { kind: 'json', text: jsonFeed(where, [...PERSONAS, ...PEOPLE]), authors: { channel: [], items } },
  ];
});
const XML = FEEDS.filter(({ kind }) => kind !== 'json');

test('the English form is a name, a comma and the label', () => {
  assert.deepEqual(FEEDS[0]?.authors.items[0], ['Dayo Ettridge, AI persona']);
  assert.deepEqual(FEEDS[1]?.authors.channel, ['Ledger [Sunday], AI personas']);
});

test('rss-parser keeps every author', async () => {
  for (const { kind, text, authors } of XML) {
    const read = await new Parser().parseString(text);
    if (kind === 'podcast') assert.deepEqual([read.itunes?.author], authors.channel);
    else
      assert.deepEqual(
        read.items.map(({ creator }) => [creator]),
        authors.items,
      );
  }
});

test('people who wrote a piece together are as many elements, or authors', () => {
  const together = item({ writers: Object.keys(NAMES).map((name) => ({ name })) });
  const creators = rss(channel, [together], { path: 'rss.xml' }).match(/(?<=<dc:creator>)[^<]*/g);
  assert.deepEqual(creators, Object.values(NAMES));
  const [read] = JSON.parse(jsonFeed(channel, [together])).items;
  assert.deepEqual(
    read.authors,
    Object.values(NAMES).map((name) => ({ name })),
  );
});

test('gofeed keeps every author', (t) => {
  const program = gofeed(t);
  if (program === null)
    return t.skip('neither gofeed-check nor Go with the modules of test/press/feeds/gofeed is here');
  assert.deepEqual(
    read(program, [], FEEDS),
    FEEDS.map(({ authors }) => authors),
  );
});

test('feedparser keeps every author', (t) => {
  if (spawnSync('python3', ['-c', 'import feedparser']).status !== 0) return t.skip('python3 has no feedparser');
  assert.deepEqual(
    read('python3', [join(HERE, 'authors.py')], XML),
    XML.map(({ authors }) => authors),
  );
});

function read(program: string, args: string[], feeds: readonly { text: string }[]): Authors[] {
  const input = JSON.stringify(feeds.map(({ text }) => text));
  const { stdout, stderr, status } = spawnSync(program, args, { input, encoding: 'utf8', maxBuffer: 2 ** 24 });
  assert.equal(status, 0, stderr);
  return JSON.parse(stdout);
}

/** The program of gofeed/, from the PATH or built from modules that are on this machine; null without it. */
function gofeed(t: TestContext): string | null {
  if (spawnSync('gofeed-check', { input: '[]' }).status === 0) return 'gofeed-check';
  const built = join(tempFolder(t), 'gofeed-check');
  const env = { ...process.env, GOPROXY: 'off', GOTOOLCHAIN: 'local', GOFLAGS: '-mod=readonly' };
  return spawnSync('go', ['build', '-o', built, '.'], { cwd: join(HERE, 'gofeed'), env }).status === 0 ? built : null;
}
