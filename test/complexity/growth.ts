import assert from 'node:assert/strict';

/** Bits whose repetition readers of text have been slow at, by what they are written in. */
export const SHAPES = [
  // Blanks, lines and the marks of lists
  ...[
    'a',
    '0',
    ' ',
    '\t',
    '\n',
    '\r\n',
    'a\n',
    'a b ',
    '.',
    '-',
    'a.',
    'a-',
    ',',
    ';',
    ':',
    '/',
    '../',
    '\\',
    '|',
    '_',
  ],
  // Forms, addresses and headers
  ...['a&', '&', '=&', 'a=b&', '%', '%25', '%41&', '+', '@', 'a@', 'bytes=', 'W/"', 'q=0,', ' ;', 'xn--'],
  // Markdown
  ...[
    '[',
    '](',
    '[](',
    '[a](',
    '![',
    '[^1]',
    'a[^a]',
    '[^a]: b\n',
    '[a]: b\n',
    '*',
    '*a ',
    '_*',
    '`',
    '`a``b ',
    '~~',
    '> ',
    '- ',
    '#',
    '|a',
    '\\[',
  ],
  // HTML, XML and styles
  ...['<', '<a', '<a ', '<g>', '</', '<!--', '<b>x\n\n', '&amp;', '&#', '"', "'", 'url(', '/*', '{a:', '<a b="'],
  // JSON, YAML, notes and what is not ASCII
  ...[
    '{',
    '[1,',
    '{"a":',
    '"a",',
    '[[',
    '---\n',
    '- a\n',
    'a: b\n',
    '— a b\n',
    '\\u0061',
    'é',
    'e\u0301',
    '\u0301\u0316',
    '\u3164\u0301',
    '漢',
    '😀',
    '\u200d',
    '\0',
  ],
];

/** Where a bit is repeated: what stands before it and after it, so that a reader comes that far. */
export type Frame = readonly [before: string, after: string];

/** Below this a pair tells nothing: it is mostly what any call costs. In µs of processor time. */
const TELLING = 4_000;
/** Twice the input may cost this many times as much. */
const GROWTH_MAX = 3;
/** How often a pair is measured anew before it counts: the machine may be busy, or collect garbage. */
const TRIES = 20;

/**
 * Fails when a reader takes more than three times as long for twice the input,
 * at any length up to the longest that it is ever given. Processor time is
 * compared, the least of several runs, and with itself alone.
 */
export async function assertLinear(
  name: string,
  input: (length: number) => unknown,
  read: (input: never) => unknown,
  { longest, shortest = 4_096 }: { longest: number; shortest?: number },
): Promise<void> {
  const costOf = async (given: unknown): Promise<number> => {
    const [start, began] = [process.cpuUsage(), performance.now()];
    try {
      await read(given as never);
    } catch {
      // A refusal is an answer too, and must come as fast.
    }
    const wall = (performance.now() - began) * 1_000;
    const { user, system } = process.cpuUsage(start);
    // Threads that compile and collect count as processor time, and waiting for a core as time: neither is the reader's.
    return Math.min(user + system, wall);
  };
  let half: unknown = input(Math.min(shortest, longest / 2));
  let before = await costOf(half);
  for (let length = Math.min(shortest, longest / 2) * 2; length <= longest; length *= 2) {
    const whole = input(length);
    let after = await costOf(whole);
    for (let tries = 0; after >= TELLING && after > before * GROWTH_MAX; tries++) {
      assert(tries < TRIES, `${name}: ${before} µs for ${length / 2}, and ${after} µs for ${length}`);
      const [less, more] = [await costOf(half), await costOf(whole)];
      // What was warm by chance is no measure for what was not: both are the least of as many runs.
      before = tries === 0 ? less : Math.min(before, less);
      after = tries === 0 ? more : Math.min(after, more);
    }
    [half, before] = [whole, after];
  }
}

/** Each shape in a frame, up to a length. */
export function repeated(shape: string, [before, after]: Frame): (length: number) => string {
  return (length) =>
    before + shape.repeat(Math.max(0, Math.floor((length - before.length - after.length) / shape.length))) + after;
}
