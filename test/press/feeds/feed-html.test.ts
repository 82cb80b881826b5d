import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { feedHtml } from '../../../src/desk/press/feeds/feed-html.ts';
import { channel, hardItems, item, realItems } from './fixtures.ts';
import { htmlFaults } from './rss-rules.ts';

const PAGE = `${channel.root}/stories/the-tide-turned/`;

describe('the HTML of a feed item', () => {
  it('is self-contained: no ids, absolute addresses, nothing executable', (t) => {
    for (const piece of [...hardItems(), ...realItems(t)]) assert.deepEqual(htmlFaults(feedHtml(channel, piece)), []);
  });

  it('sends a marker to the footnote on the story page and other links to where the page sends them', () => {
    const html = feedHtml(
      channel,
      item({
        html: '<p id="a" class="b">A<sup id="ref-1" data-n="1"><a href="#fact-1" aria-label="x">1</a></sup> <a href="../other/?a=1&amp;b=2" rel="noopener">o</a> <img src="media/a b.png" alt="&quot;A&quot;"> <a href="javascript:alert(1)">j</a> <a href="mailto:a@b.c">m</a></p>',
      }),
    );
    assert.ok(html.includes(`<p>A<sup><a href="${PAGE}#fact-1">1</a></sup>`), html);
    assert.ok(html.includes(`<a href="${channel.root}/stories/other/?a=1&amp;b=2">o</a>`), html);
    assert.ok(html.includes(`<img src="${channel.root}/media/a%20b.png" alt="&quot;A&quot;">`), html);
    assert.ok(html.includes('<a>j</a> <a href="mailto:a@b.c">m</a>'), html);
  });

  it('lists every fact under its own number, and links only documents that are addresses', () => {
    const facts = [
      { n: 1, statement: 'A < B', source: 'X & Co', instrument: 'https://x.example/?a=1&b="2"', claim_key: null },
      { n: 2, statement: 'C', source: 'Y', instrument: 'Log book "12"', claim_key: null },
      { n: 3, statement: 'D', source: 'Z', instrument: 'javascript:alert(1)', claim_key: null },
      { n: 4, statement: 'E', source: 'Z', instrument: 'ftp://z.example/', claim_key: null },
    ];
    const html = feedHtml(channel, item({ cited_facts: facts }));
    assert.ok(
      html.includes(
        '<li value="1" dir="auto">A &lt; B — X &amp; Co, <a href="https://x.example/?a=1&amp;b=%222%22">https://x.example/?a=1&amp;b=&quot;2&quot;</a></li>',
      ),
      html,
    );
    assert.ok(html.includes('<li value="2" dir="auto">C — Y, Log book &quot;12&quot;</li>'), html);
    assert.ok(html.includes('Z, javascript:alert(1)</li>'), html);
    assert.ok(html.includes('Z, ftp://z.example/</li>'), html);
    const many = feedHtml(channel, hardItems().find(({ slug }) => slug === 'many-facts') ?? item());
    assert.equal(many.match(/<li value=/g)?.length, 234);
  });

  it('carries the AI label, the credit, the corrections and the piece’s own art', () => {
    const piece = item({
      language: 'ar',
      credit: 'After A <b>',
      corrections: [{ at: Date.UTC(2026, 10, 21), revision: 2, note: 'Noon & not later.' }],
      image: { src: 'media/art/metre & co.svg', alt: 'A "metre"', credit: 'Own work' },
    });
    const html = feedHtml(channel, piece);
    assert.ok(html.startsWith('<div lang="ar" dir="auto"><figure>'), html);
    assert.ok(html.includes('By Mara Vell, AI persona, Tides Desk.'), html);
    assert.ok(html.includes('After A &lt;b&gt;'), html);
    assert.ok(html.includes('<li>2026-11-21: Noon &amp; not later.</li>'), html);
    assert.ok(html.includes(`src="${channel.root}/media/art/metre%20%26%20co.svg" alt="A &quot;metre&quot;"`), html);
    assert.ok(!feedHtml(channel, item()).includes('<figure>'));
  });
});
