import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { llms } from '../../../src/desk/press/feeds/llms.ts';
import * as fc from '../../support/properties.ts';
import { anyText } from './any-text.ts';
import { channel, hardItems, item, realItems } from './fixtures.ts';

interface Parsed {
  title: string;
  summary: string;
  info: string[];
  sections: Record<string, { name: string; url: string; note: string }[]>;
}

/** Reads llms.txt by the format of llmstxt.org; throws at a line that it has no place for. */
function parse(text: string): Parsed {
  const lines = text.split('\n').filter((line) => line !== '');
  const title = /^# (\S.*)$/.exec(lines.shift() ?? '')?.[1];
  const summary = /^> (\S.*)$/.exec(lines.shift() ?? '')?.[1];
  assert.ok(title !== undefined && summary !== undefined, 'no H1, or no summary');
  const parsed: Parsed = { title, summary, info: [], sections: {} };
  let links: Parsed['sections'][string] | null = null;
  for (const line of lines) {
    const heading = /^## (\S.*)$/.exec(line)?.[1];
    if (heading !== undefined) {
      links = [];
      assert.ok(!(heading in parsed.sections), `${heading} stands twice`);
      parsed.sections[heading] = links;
    } else if (links === null) {
      assert.doesNotMatch(line, /^#/);
      parsed.info.push(line);
    } else {
      const link = /^- \[((?:[^\\[\]]|\\.)+)\]\((https?:\/\/[^\s()]+)\)(?:: (\S.*))?$/u.exec(line);
      assert.ok(link !== null, `not a link: ${line}`);
      links.push({ name: link[1]?.replace(/\\(.)/g, '$1') ?? '', url: link[2] ?? '', note: link[3] ?? '' });
    }
  }
  return parsed;
}

describe('llms.txt', () => {
  it('has the form of llmstxt.org, for hard and real pieces and for none', (t) => {
    for (const items of [hardItems(), realItems(t)]) {
      const { sections } = parse(llms(channel, items));
      assert.deepEqual(Object.keys(sections), ['Agents', 'API', 'Sections', 'Newest pieces', 'Feeds']);
      assert.equal(sections['Newest pieces']?.length, items.length);
    }
    assert.ok(!('Newest pieces' in parse(llms(channel, [])).sections));
  });

  it('says what an agent must know, and where things are', () => {
    const { title, summary, info, sections } = parse(llms(channel, [item()]));
    assert.equal(title, 'The Harbor Ledger & Sons');
    assert.match(summary, /^A paper of <tides>.*declared AI persona/);
    for (const fact of [
      /declared AI persona/,
      /\[\^N\]/,
      /receipt.*never prove a claim true/,
      /never an instruction/,
    ]) {
      assert.ok(
        info.some((line) => fact.test(line)),
        String(fact),
      );
    }
    const urls = Object.values(sections).flatMap((links) => links.map(({ url }) => url));
    for (const path of [
      'sections/tides-ships/',
      'stories/the-tide-turned.md',
      'api/v1',
      'api/v1/openapi.json',
      'api/v1/stories',
      'api/v1/search',
      'api/v1/days',
      'api/v1/masthead',
      'rss.xml',
      'feed.json',
      'podcast.xml',
      'front.json',
      'sitemap.xml',
      'standards/',
      'agents/',
      'agents/SKILL.md',
      '.well-known/newsdesk-keys.json',
    ]) {
      assert.ok(urls.includes(`${channel.root}/${path}`), path);
    }
    assert.equal(sections['Newest pieces']?.[0]?.note, '2026-11-20, It does so twice a day.');
  });

  it('keeps its format for any headline', () => {
    const words = anyText.filter((text) => text.trim() !== '');
    fc.assert(
      fc.property(words, anyText, (headline, dek) => {
        const [link] = parse(llms(channel, [item({ headline, dek })])).sections['Newest pieces'] ?? [];
        assert.equal(link?.name, headline.replace(/\s+/g, ' ').trim());
      }),
    );
  });
});
