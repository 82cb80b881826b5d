import assert from 'node:assert/strict';
import { test } from 'node:test';
import { XMLParser } from 'fast-xml-parser';
import { type DefaultTreeAdapterTypes, parseFragment } from 'parse5';
import type { Archive } from '../../../src/desk/archive.ts';
import { Edition, siteOf } from '../../../src/desk/press/edition.ts';
import { oembedRecord, oembedXml } from '../../../src/desk/press/feeds/oembed.ts';
import { cleanText } from '../../../src/desk/press/feeds/xml.ts';
import * as fc from '../../support/properties.ts';
import { assertWellFormed } from '../../support/xml.ts';
import { channel, story } from './fixtures.ts';

const { root } = channel;
const SIZE = { width: 640, height: 300 };
const FREE = { maxwidth: null, maxheight: null };

/** How WordPress 6 finds the two parts that it keeps (wp_filter_oembed_result). */
const KEPT = /(<blockquote>.*?<\/blockquote>)?.*(<iframe.*?><\/iframe>)/s;

function edition(nameplate: string): Edition {
  const archive = { paper: () => ({ ...channel.paper, nameplate }), media: () => null };
  return new Edition(archive as unknown as Archive, siteOf(root));
}

const texts = fc.oneof(
  fc.string({ unit: 'grapheme', minLength: 1 }),
  fc.string({ unit: 'binary' }),
  fc.constantFrom(
    'Tom & Jerry’s "<b>tide</b>" 🌊',
    '</a></blockquote><script>alert(1)</script>',
    '"><iframe src=javascript:alert(1)></iframe>',
    ']]>&amp;&lt;',
  ),
);

test('the html is a leading link and a frame for any words', () => {
  fc.assert(
    fc.property(texts, texts, (headline, nameplate) => {
      const { html } = oembedRecord(edition(nameplate), story({ headline }), SIZE, FREE);
      const [, quote = '', frame = ''] = KEPT.exec(html) ?? [];
      assert.equal(quote + frame, html);
      const nodes = parseFragment(html).childNodes as DefaultTreeAdapterTypes.Element[];
      assert.deepEqual(
        nodes.map(({ nodeName }) => nodeName),
        ['blockquote', 'iframe'],
      );
      const [link, ...others] = (nodes[0]?.childNodes ?? []) as DefaultTreeAdapterTypes.Element[];
      assert.equal(others.length, 0);
      assert.deepEqual(attributes(link), { href: `${root}/stories/the-tide-turned/` });
      const words = (link?.childNodes ?? []) as DefaultTreeAdapterTypes.TextNode[];
      assert.equal(words.map(({ value }) => value).join(''), cleanText(headline));
      const { src, width, height, title } = attributes(nodes[1]);
      assert.deepEqual([src, width, height], [`${root}/embed/01jd0000000000000000000001/`, '640', '300']);
      assert.equal(title, cleanText(`${headline} — ${nameplate}`));
    }),
  );
});

test('the XML says the same as the JSON', () => {
  const parser = new XMLParser({ parseTagValue: false, trimValues: false, ignoreDeclaration: true });
  fc.assert(
    fc.property(texts, texts, (headline, nameplate) => {
      const record = oembedRecord(edition(nameplate), story({ headline }), SIZE, FREE);
      const xml = oembedXml(record);
      assertWellFormed(xml);
      const { oembed } = parser.parse(xml) as { oembed: Record<string, string> };
      const wanted = Object.entries(record).map(([name, value]) => [name, cleanText(String(value))]);
      assert.deepEqual(oembed, Object.fromEntries(wanted));
    }),
  );
});

test('the picture of a preview is named only within the requested bounds', () => {
  const record = (bounds: { maxwidth: number | null; maxheight: number | null }) =>
    oembedRecord(edition('The Ledger'), story(), SIZE, bounds);
  for (const bounds of [FREE, { maxwidth: 1200, maxheight: null }, { maxwidth: 1200, maxheight: 630 }]) {
    const { thumbnail_url = '', thumbnail_width, thumbnail_height } = record(bounds);
    assert.match(thumbnail_url, /\/cards\/01jd0000000000000000000001-[0-9a-f]{16}\.png$/);
    assert.deepEqual([thumbnail_width, thumbnail_height], [1200, 630]);
  }
  for (const bounds of [
    { maxwidth: 1199, maxheight: null },
    { maxwidth: null, maxheight: 629 },
  ]) {
    assert.deepEqual(
      Object.keys(record(bounds)).filter((name) => name.startsWith('thumbnail')),
      [],
    );
  }
});

function attributes(element: DefaultTreeAdapterTypes.Element | undefined): Record<string, string> {
  return Object.fromEntries((element?.attrs ?? []).map(({ name, value }) => [name, value]));
}
