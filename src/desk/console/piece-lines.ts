import { isoTime } from '../../proof/time.ts';
import type { DeskRow, StateName, Story } from '../archive.ts';
import { proseTokens } from '../door/prose.ts';
import { reviewRow } from '../review.ts';
import { shownToDesk } from '../withdrawal.ts';
import type { FactLine, PieceLine } from './views.ts';

/** Selects pieces for a list of the console. */
export interface PieceFilter {
  state?: StateName | undefined;
  section?: string | undefined;
  persona?: string | undefined;
  language?: string | undefined;
  /** Who filed the newest revision, such as `key:<id>`. */
  filed_by?: string | undefined;
  /** Only pieces that a person must approve. */
  awaits_review?: boolean | undefined;
}

/** Names the person or program that filed or decided something: `key:<id>` is a key of the paper. */
export type NameOf = (by: string) => string;

/** Looks up names in a paper's keys. */
export function namesOf(keys: readonly { id: string; name: string; seat: string | null }[]): NameOf {
  const names = new Map(keys.map(({ id, name, seat }) => [`key:${id}`, name || seat || id]));
  return (by) => names.get(by) ?? (by === 'cli' ? 'command line' : by);
}

export function pieceLine(found: DeskRow & { filed_by: string }, nameOf: NameOf): PieceLine {
  const { id, headline, language, state, category, byline, published_at, scheduled_at, withdrawn_at } =
    shownToDesk(found);
  const at =
    state === 'scheduled'
      ? scheduled_at
      : state === 'withdrawn'
        ? withdrawn_at
        : state === 'on_air'
          ? published_at
          : null;
  return {
    ...{ id, headline, language, state, section: category, persona: byline.name },
    by: nameOf(found.filed_by),
    at: isoTime(at ?? ulidTime(id)),
    review: reviewRow(found),
  };
}

/** The time when a ULID was made, in ms, from its first ten characters (Crockford's base 32). */
export function ulidTime(id: string): number {
  let time = 0;
  for (const letter of id.slice(0, 10).toUpperCase())
    time = time * 32 + '0123456789ABCDEFGHJKMNPQRSTVWXYZ'.indexOf(letter);
  return time;
}

/** The cited facts of a piece, each with the sentences that cite it. */
export function factLines({
  prose,
  cited_facts: facts,
  citations,
  language,
}: Pick<Story, 'prose' | 'cited_facts' | 'citations' | 'language'>) {
  const sentences = new Map<number, string[]>();
  const segmenter = new Intl.Segmenter(language, { granularity: 'sentence' });
  for (const { type, children } of proseTokens(prose)) {
    if (type !== 'inline') continue;
    const parts = (children ?? []).map(({ type, meta, content }) =>
      type === 'marker'
        ? (meta as { n: number }).n
        : /break$/.test(type)
          ? ' '
          : type === 'note_reference'
            ? ''
            : content,
    );
    for (const { sentence, numbers } of citing(parts, segmenter)) {
      for (const number of numbers) sentences.set(number, [...(sentences.get(number) ?? []), sentence]);
    }
  }
  return facts.map(
    ({ statement, source, instrument, claim_key: key }, index): FactLine => ({
      number: index + 1,
      ...{ statement, source, instrument: instrument ?? null },
      like: null,
      record: citations.find(({ claim_key }) => claim_key === key) ?? null,
      sentences: sentences.get(index + 1) ?? [],
    }),
  );
}

/** The sentences in a paragraph that have markers, at the end or inside. */
function* citing(
  parts: readonly (string | number)[],
  segmenter: Intl.Segmenter,
): Iterable<{ sentence: string; numbers: number[] }> {
  const plain = parts.filter((part) => typeof part === 'string').join('');
  const ends: number[] = [];
  const texts: string[] = [];
  for (const { segment, index } of segmenter.segment(plain)) {
    texts.push(segment.trim());
    ends.push(index + segment.length);
  }
  const found = new Map<number, number[]>();
  let offset = 0;
  for (const part of parts) {
    if (typeof part === 'string') {
      offset += part.length;
      continue;
    }
    // A marker belongs to the text before it: directly after a sentence, it belongs to that sentence.
    const index = Math.max(
      0,
      ends.findIndex((end) => plain.slice(0, end).trimEnd().length >= offset),
    );
    found.set(index, [...(found.get(index) ?? []), part]);
  }
  for (const [index, numbers] of found) yield { sentence: texts[index] ?? '', numbers };
}
