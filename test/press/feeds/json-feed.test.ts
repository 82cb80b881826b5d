import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { jsonFeed } from '../../../src/desk/press/feeds/json-feed.ts';
import * as fc from '../../support/properties.ts';
import { anyText } from './any-text.ts';
import { channel, hardItems, item, realItems } from './fixtures.ts';
import { htmlFaults } from './rss-rules.ts';

const isText = (value: unknown) => typeof value === 'string' && value !== '';
const isAddress = (value: unknown) => typeof value === 'string' && /^https?:/.test(value) && URL.canParse(value);
const isLanguage = (value: unknown) => typeof value === 'string' && /^[a-z]{2,3}(-[A-Za-z0-9]{2,8})*$/.test(value);
const isTime = (value: unknown) =>
  typeof value === 'string' &&
  /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?(Z|[+-]\d{2}:\d{2})$/.test(value) &&
  !Number.isNaN(Date.parse(value));
const isExtension = (value: unknown) => typeof value === 'object' && value !== null && !Array.isArray(value);

/** Members of JSON Feed 1.1 that we write: what each must be, and whether it must be there. */
const FEED: Record<string, [(value: unknown) => boolean, boolean]> = {
  version: [(value) => value === 'https://jsonfeed.org/version/1.1', true],
  title: [isText, true],
  home_page_url: [isAddress, false],
  feed_url: [isAddress, false],
  description: [isText, false],
  language: [isLanguage, false],
  _broadsheet: [isExtension, false],
  items: [Array.isArray, true],
};
const AUTHOR: typeof FEED = { name: [isText, true], url: [isAddress, false], avatar: [isAddress, false] };
const ITEM: typeof FEED = {
  id: [isText, true],
  url: [isAddress, false],
  title: [isText, false],
  content_html: [isText, true],
  summary: [isText, false],
  image: [isAddress, false],
  date_published: [isTime, false],
  date_modified: [isTime, false],
  authors: [
    (value) => Array.isArray(value) && value.every((author) => memberFaults(author, AUTHOR).length === 0),
    false,
  ],
  tags: [(value) => Array.isArray(value) && value.every(isText), false],
  language: [isLanguage, false],
  _broadsheet: [isExtension, false],
};

function memberFaults(value: Record<string, unknown>, members: typeof FEED): string[] {
  const unknown = Object.keys(value).filter((name) => !(name in members));
  const wrong = Object.entries(members).filter(([name, [holds, must]]) => (name in value ? !holds(value[name]) : must));
  return [...unknown.map((name) => `${name} is no member`), ...wrong.map(([name]) => `${name} is missing or wrong`)];
}

function feedFaults(json: string): string[] {
  const feed = JSON.parse(json);
  const ids = feed.items.map(({ id }: { id: string }) => id);
  return [
    ...memberFaults(feed, FEED),
    ...feed.items.flatMap((entry: Record<string, unknown>) => [
      ...memberFaults(entry, ITEM),
      ...htmlFaults(String(entry.content_html)),
    ]),
    ...(new Set(ids).size === ids.length ? [] : ['two items have the same id']),
  ];
}

describe('json feed', () => {
  it('has the members of version 1.1 and no others, for hard and real pieces and for none', (t) => {
    for (const items of [hardItems(), realItems(t), []]) assert.deepEqual(feedFaults(jsonFeed(channel, items)), []);
  });

  it('finds faults', () => {
    const feed = JSON.parse(jsonFeed(channel, [item()]));
    delete feed.items[0].id;
    feed.items[0].date_published = 'Fri, 20 Nov 2026';
    feed.author = { name: 'A' };
    assert.deepEqual(feedFaults(JSON.stringify(feed)), [
      'author is no member',
      'id is missing or wrong',
      'date_published is missing or wrong',
    ]);
  });

  it('names the persona with its label, its page and its portrait', () => {
    const [first] = JSON.parse(jsonFeed(channel, [item()])).items;
    assert.deepEqual(first.authors, [
      {
        name: 'Mara Vell, AI persona',
        url: `${channel.root}/masthead/mara-vell/`,
        avatar: `${channel.root}/media/portraits/mara-vell.svg`,
      },
    ]);
    assert.deepEqual(first._broadsheet, {
      declared_ai: true,
      piece: item().id,
      kind: 'news',
      revision: 1,
      content_hash: item().content_hash,
    });
    assert.equal(first.date_published, '2026-11-20T07:06:00.000Z');
    assert.equal(first.date_modified, '2026-11-20T09:30:00.000Z');
  });

  it('omits the summary without a dek', () => {
    assert.ok(!('summary' in JSON.parse(jsonFeed(channel, [item({ dek: '' })])).items[0]));
  });

  it('any text round-trips', () => {
    fc.assert(
      fc.property(anyText, anyText, (headline, dek) => {
        const [entry] = JSON.parse(jsonFeed(channel, [item({ headline, dek, category: dek })])).items;
        assert.deepEqual([entry.title, entry.summary, entry.tags], [headline, dek, [dek]]);
      }),
    );
  });
});
