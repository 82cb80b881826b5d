import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { transcriptOf } from '../../src/desk/press/transcript.ts';

const cue = (start: string, ...lines: string[]) => `${start} --> 09:59:59.000 align:start\n${lines.join('\n')}\n\n`;

describe('a transcript', () => {
  it('joins cues to paragraphs, one a voice, and drops notes, styles, numbers and tags', () => {
    const vtt = [
      'WEBVTT - the day\r\nKind: captions\r\n\r\nSTYLE\r\n::cue { color: red }\r\n\r\nNOTE\r\nnot said\r\n\r\n',
      `1\n${cue('00:01.000', '<v.loud Vera Holm>Good <i>morning</i>,', 'all &lt;of&gt; you.')}`,
      cue('00:00:04.500', '<00:00:05.000>And <c.blue>hello</c>.'),
      cue('01:00:05.000', '<v Ibo Sand>Yes.', '<v Vera Holm>No &amp; no.'),
    ].join('');
    assert.deepEqual(transcriptOf(vtt), [
      { time: 1, speaker: 'Vera Holm', text: 'Good morning, all <of> you. And hello.' },
      { time: 3605, speaker: 'Ibo Sand', text: 'Yes.' },
      { time: 3605, speaker: 'Vera Holm', text: 'No & no.' },
    ]);
  });

  it('begins a paragraph after a sentence, when the last one is long', () => {
    const lines = Array.from({ length: 40 }, (_, n) =>
      cue(`00:${String(n + 10)}.000`, `Sentence ${n} of a long talk.`),
    );
    const parts = transcriptOf(`WEBVTT\n\n${lines.join('')}`);
    assert.equal(parts.length, 4);
    for (const { text } of parts) assert.match(text, /\.$/);
    assert.equal(
      parts
        .map(({ text }) => text)
        .join(' ')
        .split('Sentence').length,
      41,
    );
  });

  it('shows nothing of a file without cues, and no more than a page has room for', () => {
    for (const text of ['WEBVTT\n', 'WEBVTT\n\nNOTE\nx\n', '\ufeffWEBVTT']) assert.deepEqual(transcriptOf(text), []);
    const long = transcriptOf(`WEBVTT\n\n${cue('00:01.000', 'word '.repeat(1000)).repeat(900)}`);
    const length = long.reduce((sum, { text }) => sum + text.length, 0);
    assert.ok(length > 400_000 && length < 510_000, String(length));
    const voices = Array.from({ length: 200_000 }, (_, n) => `<v ${n % 7}>a`).join('\n');
    const parts = transcriptOf(`WEBVTT\n\n${cue('00:01.000', voices)}`);
    assert.ok(parts.length > 20_000 && parts.length < 25_000, `${parts.length} voices that take turns`);
  });
});
