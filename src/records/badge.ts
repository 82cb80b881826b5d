import type { Observation } from './observation.ts';

/** Width of a character of the badge's face at its size, in px, near enough for a frame around it. */
const CHARACTER = 6.6;
const HEIGHT = 20;
const PADDING = 8;

/**
 * The badge of a domain's newest observation, as SVG: when it was observed and
 * under which number. The receipt is in its metadata, verbatim, so that the picture
 * can be verified by itself; `page` is where it leads when it is not shown as an image.
 */
export function badgeOf({ seq, record, receipt }: Observation, page: string): string {
  const label = record.unicode.length > 40 ? `${record.unicode.slice(0, 39)}…` : record.unicode;
  const said = `observed ${record.observed_at.slice(0, 10)} · signed no. ${seq}`;
  const [left, right] = [label, said].map((text) => Math.ceil(text.length * CHARACTER) + 2 * PADDING) as [
    number,
    number,
  ];
  const title = `${record.unicode}: DNS records observed at ${record.observed_at}, signed observation ${seq}`;
  const text = (x: number, words: string) => `<text x="${x}" y="14">${escaped(words)}</text>`;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${left + right}" height="${HEIGHT}" role="img" aria-label="${escaped(title)}">`,
    `<title>${escaped(title)}</title>`,
    `<metadata>${escaped(receipt)}</metadata>`,
    `<a href="${escaped(page)}">`,
    `<rect width="${left}" height="${HEIGHT}" fill="#1d2733"/><rect x="${left}" width="${right}" height="${HEIGHT}" fill="#0b6b57"/>`,
    '<g fill="#fff" font-family="ui-monospace,SFMono-Regular,Menlo,Consolas,monospace" font-size="11">',
    text(PADDING, label),
    text(left + PADDING, said),
    '</g></a></svg>\n',
  ].join('');
}

function escaped(text: string): string {
  return text.replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`);
}
