import type { Observation } from './observation.ts';
import type { ObservationReceipt } from './receipt.ts';
import type { DomainRecord } from './record.ts';

/** Approximate width of a character in the badge's typeface, in px. */
const CHARACTER = 6.6;
const HEIGHT = 20;
const PADDING = 8;

const LONGEST_LABEL = 40;

const GREEN = '#0b6b57';
const GREY = '#5c646b';

/**
 * The badge of the newest observation, as SVG. Its metadata contains the receipt verbatim, so that the image can be
 * verified on its own. `page` is its link target when it is not shown as an image.
 */
export function badgeOf(
  {
    seq,
    record,
    receipt,
  }: Pick<Observation, 'seq' | 'receipt'> & { record: Pick<DomainRecord, 'unicode' | 'observed_at'> },
  page: string,
): string {
  return svgOf({
    label: record.unicode,
    said: `observed ${record.observed_at.slice(0, 10)} · signed no. ${seq}`,
    title: `${record.unicode}: DNS records observed at ${record.observed_at}, signed observation ${seq}`,
    color: GREEN,
    metadata: `<metadata>${escaped(receipt)}</metadata>`,
    link: page,
  });
}

/** A grey badge for a host without an observation, showing `said` as the reason. */
export function plainBadge(label: string, said: string): string {
  return svgOf({ label, said, title: `${label}: ${said}`, color: GREY, metadata: '', link: null });
}

interface Drawing {
  label: string;
  said: string;
  title: string;
  color: string;
  metadata: string;
  link: string | null;
}

function svgOf({ label, said, title, color, metadata, link }: Drawing): string {
  const name = label.length > LONGEST_LABEL ? `${label.slice(0, LONGEST_LABEL - 1)}…` : label;
  const widthOf = (words: string) => Math.ceil(words.length * CHARACTER) + 2 * PADDING;
  const [left, right] = [widthOf(name), widthOf(said)];
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

/** A badge's receipt and link target; null for any other SVG, and for a badge without an observation. */
export function badgeParts(svg: string): { receipt: string; page: string | null } | null {
  const receipt = unescaped(/<metadata>([^<]*)<\/metadata>/.exec(svg)?.[1] ?? '').trim();
  if (!receipt.startsWith('domain-observation/')) return null;
  const page = /<a href="([^"<]*)">/.exec(svg)?.[1];
  return { receipt: `${receipt}\n`, page: page === undefined ? null : unescaped(page) };
}

/**
 * Checks a badge against its receipt: drawn again from the receipt, it must be the same text, so that nothing was
 * added, covered or recolored. The link is not signed, but must be a web page.
 */
export function badgeRules(svg: string, { domain, seq, observed_at }: ObservationReceipt): string[] {
  const { receipt, page } = badgeParts(svg) ?? { receipt: '', page: null };
  const unicode = unescaped(/<title>([^<]*): DNS records observed at /.exec(svg)?.[1] ?? '');
  if (!isNameOf(unicode, domain))
    return [`the badge shows the name ${unicode || 'none'}, but its receipt is of ${domain}`];
  if (page === null || !isPage(page)) {
    return [`the badge links to ${page ?? 'nothing'}, which is not a web page`];
  }
  if (svg === badgeOf({ seq, record: { unicode, observed_at }, receipt }, page).trim()) return [];
  const texts = [...svg.matchAll(/<text[^<>]*>([^<]*)</g)].map(([, words]) => unescaped(words ?? ''));
  return [
    `the badge is not the one that is drawn for its receipt, which says ${domain}, ${observed_at.slice(0, 10)}, no. ${seq}; it shows ${texts.join(', ') || 'nothing'}`,
  ];
}

/** Whether a browser treats a link as http or https. Browsers ignore leading blanks, and tabs and newlines anywhere. */
function isPage(link: string): boolean {
  return /^https?:$/.test(URL.parse(link, 'https://records.invalid/')?.protocol ?? '');
}

/**
 * Characters that end a host in a URL, or that UTS 46 ignores or maps. Most are invisible, and enough of them would
 * push the end of a name off the badge. Joiners are valid in some names.
 */
const NOT_OF_NAMES = /[\s/?#@:\\[\]%\u3002]|(?![\u200c\u200d])\p{Default_Ignorable_Code_Point}/u;

/** Whether a name is the Unicode form of a domain in A-labels, already mapped by UTS 46. */
function isNameOf(name: string, domain: string): boolean {
  if (name === domain) return true;
  if (NOT_OF_NAMES.test(name) || name !== name.toLowerCase().normalize('NFKC')) return false;
  const address = `http://${name}/`;
  return URL.canParse(address) && new URL(address).hostname === domain;
}

function unescaped(text: string): string {
  return text.replace(/&#(\d{1,3});/g, (_, code: string) => String.fromCharCode(Number(code)));
}

function escaped(text: string): string {
  return text.replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`);
}
