import { excessIn } from '../../src/desk/door/prose-bounds.ts';

/** Bits of prose that cost the most to read for their length. */
const BITS: [name: string, bit: string][] = [
  ['raw HTML', '<b>x\n\n'],
  ['autolinks', '<http://a> '],
  ['links', '[a](b) '],
  ['references', '[a]: b\n'],
  ['pictures', '![a](media/x) '],
  ['lists', '- a\n'],
  ['lines', 'a\n'],
  ['emphasis', '*a* '],
  ['open emphasis', '_*'],
  ['tables', '| a | b |\n|---|---|\n'],
  ['escapes', '\\['],
  ['characters to escape', '<'],
  ['everything', '* *a* [b](c) `d`\n\n'],
  ['international addresses', '[a](http://ü.x/) '],
  ['letters outside of ASCII', 'é '],
];
const LENGTH = 400_000;

/** As many of a bit as the filing door takes. */
function most(bit: string): string {
  let [taken, refused] = [1, Math.floor(LENGTH / bit.length) + 1];
  while (refused - taken > 1) {
    const middle = (taken + refused) >> 1;
    if (excessIn(bit.repeat(middle)).length === 0) taken = middle;
    else refused = middle;
  }
  return bit.repeat(taken);
}

export interface Hostile {
  name: string;
  prose: string;
}

/** The worst prose that is known, as much of each as is taken; words that are all different load the search. */
export function hostileProse(): Hostile[] {
  const words = Array.from({ length: LENGTH / 8 }, (_, n) =>
    ((n * 2_654_435_761) % 2 ** 32).toString(36).padStart(7, 'z'),
  ).join(' ');
  return [
    ...BITS.map(([name, bit]) => ({ name, prose: most(bit) })),
    { name: 'markers', prose: 'x [^1] '.repeat(4_990) },
    { name: 'words all different', prose: words.slice(0, LENGTH) },
  ];
}
