import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parse } from 'yaml';
import { markersIn } from '../../../src/desk/door/markers.ts';
import { storyMarkdown } from '../../../src/desk/press/feeds/markdown.ts';
import * as fc from '../../support/properties.ts';
import { anyText } from './any-text.ts';
import { channel, hardItems, realItems, story } from './fixtures.ts';

/** The front matter as a reader of YAML has it, and all that follows. */
function split(markdown: string): { front: Record<string, unknown>; body: string } {
  const end = markdown.indexOf('\n---\n', 4);
  assert.ok(markdown.startsWith('---\n') && end > 0);
  return { front: parse(markdown.slice(4, end)), body: markdown.slice(end + '\n---\n'.length) };
}

describe('the Markdown version', () => {
  it('holds the prose word for word and a note for every marker', (t) => {
    for (const piece of [...hardItems(), ...realItems(t)]) {
      const { front, body } = split(storyMarkdown(channel, piece));
      assert.ok(body.startsWith(`\n${piece.prose}\n\n`), piece.slug);
      const notes: string[] = body.slice(piece.prose.length).match(/^\[\^\d+\]: /gm) ?? [];
      assert.deepEqual(
        notes,
        piece.cited_facts.map(({ n }) => `[^${n}]: `),
        piece.slug,
      );
      for (const { n } of markersIn(piece.prose)) assert.ok(notes.includes(`[^${n}]: `), piece.slug);
      assert.equal(front.headline, piece.headline);
      assert.equal(front.dek ?? '', piece.dek);
      assert.equal(front.content_hash, piece.content_hash);
    }
  });

  it('says in its front matter what a reader must know', () => {
    const { front } = split(storyMarkdown(channel, story({ revision: 3 })));
    assert.deepEqual(front, {
      headline: 'The tide turned',
      dek: 'It does so twice a day.',
      byline: 'Mara Vell (AI persona)',
      byline_title: 'Tides Desk',
      declared_ai: true,
      publication: 'The Harbor Ledger & Sons',
      category: 'City',
      kind: 'news',
      language: 'en',
      published_at: '2026-11-20T07:06:00.000Z',
      updated_at: '2026-11-20T09:30:00.000Z',
      revision: 3,
      url: `${channel.root}/stories/the-tide-turned/`,
      id: story().id,
      content_hash: story().content_hash,
    });
  });

  it('writes notes, corrections and credit after the prose', () => {
    const corrections = [{ at: Date.UTC(2026, 10, 21), revision: 2, note: 'Noon.\nNot later.' }];
    const { body } = split(storyMarkdown(channel, story({ corrections, credit: 'After A. Author' })));
    assert.equal(
      body,
      `
The tide turned[^1] at noon[^2].

[^1]: The tide turned. — tides.example, https://tides.example/?a=1&b="2"
[^2]: It was noon. — Harbour Office, Log book 12, page 3

## Corrections

- 2026-11-21T00:00:00.000Z, revision 2: Noon.
  Not later.

## Credit

After A. Author
`,
    );
  });

  it('any headline and prose round-trip', () => {
    fc.assert(
      fc.property(anyText, anyText, anyText, (headline, dek, prose) => {
        const { front, body } = split(Buffer.from(storyMarkdown(channel, story({ headline, dek, prose }))).toString());
        assert.deepEqual([front.headline, front.dek], [headline, dek]);
        // Half of a surrogate pair has no form in UTF-8.
        assert.ok(body.startsWith(`\n${prose.toWellFormed()}\n\n`));
      }),
    );
  });
});
