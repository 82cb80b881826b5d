import type { Observation } from './observation.ts';

/** Width of a character of the badge's face at its size, in px, near enough for a frame around it. */
const CHARACTER = 6.6;
const HEIGHT = 20;
const PADDING = 8;

/** Of a name on a badge, in characters. */
const LONGEST_LABEL = 40;

const SEEN = '#0b6b57';
const GREY = '#5c646b';

/**
 * The badge of a domain's newest observation, as SVG: when it was observed and
 * under which number. The receipt is in its metadata, verbatim, so that the picture
 * can be verified by itself; `page` is where it leads when it is not shown as an image.
 */
export function badgeOf({ seq, record, receipt }: Observation, page: string): string {
  return drawn({
    label: record.unicode,
    said: `observed ${record.observed_at.slice(0, 10)} · signed no. ${seq}`,
    title: `${record.unicode}: DNS records observed at ${record.observed_at}, signed observation ${seq}`,
    color: SEEN,
    metadata: `<metadata>${escaped(receipt)}</metadata>`,
    link: page,
  });
}

/** A grey badge without an observation: `said` is why there is none. */
export function plainBadge(label: string, said: string): string {
  return drawn({ label, said, title: `${label}: ${said}`, color: GREY, metadata: '', link: null });
}

interface Drawing {
  label: string;
  said: string;
  title: string;
  color: string;
  metadata: string;
  link: string | null;
}

function drawn({ label, said, title, color, metadata, link }: Drawing): string {
  const name = label.length > LONGEST_LABEL ? `${label.slice(0, LONGEST_LABEL - 1)}…` : label;
  const [left, right] = [name, said].map((text) => Math.ceil(text.length * CHARACTER) + 2 * PADDING) as [
    number,
    number,
  ];
  const text = (x: number, words: string) => `<text x="${x}" y="14">${escaped(words)}</text>`;
  const [open, end] = link === null ? ['', ''] : [`<a href="${escaped(link)}">`, '</a>'];
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${left + right}" height="${HEIGHT}" role="img" aria-label="${escaped(title)}">`,
    `<title>${escaped(title)}</title>`,
    metadata,
    open,
    `<rect width="${left}" height="${HEIGHT}" fill="#1d2733"/><rect x="${left}" width="${right}" height="${HEIGHT}" fill="${color}"/>`,
    '<g fill="#fff" font-family="ui-monospace,SFMono-Regular,Menlo,Consolas,monospace" font-size="11">',
    text(PADDING, name),
    text(left + PADDING, said),
    `</g>${end}</svg>\n`,
  ].join('');
}

function escaped(text: string): string {
  return text.replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`);
}
