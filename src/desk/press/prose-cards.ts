import type { Token } from 'markdown-it';
import { markdown } from '../door/prose.ts';

/** The metadata of a linked page, as shown in a card. */
export interface LinkCard {
  title: string;
  /** This and the next member may be empty. */
  description: string;
  site: string;
  /** Its address, and its size in pixels; null without a picture. */
  picture: { url: string; width: number; height: number } | null;
}

/** A card for a bare link. `text` is the address as the prose shows it. */
export interface CardToken {
  url: string;
  text: string;
  card: LinkCard | null;
}

const BARE = /^https?:\/\/[^\s<>]+$/;

/** Maximum length of an address, in characters. Longer ones stay plain links. */
const URL_MAX = 2_048;

/**
 * Turns paragraphs that consist of a bare address into one token, for `cardHtml`. `cardOf` is called with the
 * normalized address, and returns undefined for one that stays text.
 */
export function withCards(tokens: Token[], cardOf: (url: string) => LinkCard | null | undefined): Token[] {
  const found: Token[] = [];
  for (let at = 0; at < tokens.length; at++) {
    const [open, inline] = [tokens[at], tokens[at + 1]];
    if (open === undefined) break;
    const link = open.type === 'paragraph_open' && open.level === 0 ? bareLink(inline) : null;
    const url = link === null || link.url.length > URL_MAX ? null : URL.parse(link.url);
    const card = url === null || url.username !== '' || url.password !== '' ? undefined : cardOf(url.href);
    if (link === null || card === undefined) {
      found.push(open);
      continue;
    }
    found.push({
      ...open,
      type: 'link_card',
      nesting: 0,
      meta: { ...link, card } satisfies CardToken,
    } as unknown as Token);
    // Skips the paragraph's content and end.
    at += 2;
  }
  return found;
}

/** The address in a paragraph with only `https://…` or `<https://…>`; null for any other paragraph. */
function bareLink(inline: Token | undefined): { url: string; text: string } | null {
  const children = inline?.children ?? [];
  const [first, second] = children;
  if (first?.markup === 'autolink' && second !== undefined && children.length === 3) {
    const url = String(first.attrGet('href') ?? '');
    return BARE.test(url) ? { url, text: second.content } : null;
  }
  const url = inline?.content ?? '';
  const isPlain = BARE.test(url) && children.every(({ type }) => type === 'text');
  return isPlain && children.map(({ content }) => content).join('') === url ? { url, text: url } : null;
}

const escapeHtml = (text: string): string => markdown.utils.escapeHtml(text);

/** A card: the address, which is signed, and in a separate element the metadata of the page, which is not. */
export function cardHtml({ url, text, card }: CardToken): string {
  const link = `<a href="${escapeHtml(url)}" dir="ltr" rel="noopener">${escapeHtml(text)}</a>`;
  if (card === null) return `<div class="link-card">${link}</div>\n`;
  const { title, description, site, picture } = card;
  const line = (tag: string, name: string, said: string) =>
    said === '' ? [] : [`<${tag} class="${name}" dir="auto">${escapeHtml(said)}</${tag}>`];
  const lines = [...line('span', 'site', site), ...line('b', 'title', title), ...line('span', 'about', description)];
  const image =
    picture === null
      ? ''
      : `<img src="${escapeHtml(picture.url)}" alt="" width="${picture.width}" height="${picture.height}" loading="lazy" decoding="async">`;
  return `<div class="link-card"><aside>${image}${lines.join(' ')}</aside> ${link}</div>\n`;
}
