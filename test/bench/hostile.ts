/** Texts that cost the most to read for their length, each as long as the door takes a prose. */
const BITS: [name: string, bit: string, facts: number][] = [
  ['raw HTML', '<b>x\n\n', 0],
  ['autolinks', '<http://a> ', 0],
  ['links', '[a](b) ', 0],
  ['references', '[a]: b\n', 0],
  ['pictures', '![a](media/x) ', 0],
  ['lists', '- a\n', 0],
  ['lines', 'a\n', 0],
  ['emphasis', '*a* ', 0],
  ['open emphasis', '_*', 0],
  ['tables', '| a | b |\n|---|---|\n', 0],
  ['escapes', '\\[', 0],
  ['characters to escape', '<', 0],
  ['everything', '* *a* [b](c) `d`\n\n', 0],
  ['ideographs', '漢字', 0],
];
const LENGTH = 400_000;

export interface Hostile {
  name: string;
  prose: string;
  facts: number;
}

/** The worst prose that is known, each of the length that is taken; words that are all different load the search. */
export function hostileProse(): Hostile[] {
  const words = Array.from({ length: LENGTH / 8 }, (_, n) =>
    ((n * 2_654_435_761) % 2 ** 32).toString(36).padStart(7, 'z'),
  ).join(' ');
  return [
    ...BITS.map(([name, bit, facts]) => ({ name, prose: bit.repeat(Math.floor(LENGTH / bit.length)), facts })),
    { name: 'markers', prose: 'x [^1] '.repeat(5_000), facts: 1 },
    { name: 'words all different', prose: words.slice(0, LENGTH), facts: 0 },
  ];
}
