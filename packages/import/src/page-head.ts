import { Parser } from 'htmlparser2';
import { decodedPage } from './decoded-page.ts';

/** What a web page says about itself in its head. Unchecked, of any length; null for missing values. */
export interface PageHead {
  title: string | null;
  description: string | null;
  site: string | null;
  /** The address of a picture, which may be relative. */
  image: string | null;
}

/** For each member, the names of `<meta>` elements, preferred first: the Open Graph protocol, X's cards, HTML. */
const NAMES = {
  title: ['og:title', 'twitter:title'],
  description: ['og:description', 'twitter:description', 'description'],
  site: ['og:site_name', 'application-name'],
  image: ['og:image:secure_url', 'og:image', 'og:image:url', 'twitter:image', 'twitter:image:src'],
} as const;
const WANTED = new Set<string>(Object.values(NAMES).flat());

/** Heads are flat, and each open element makes the next one slower. */
const DEPTH_MAX = 100;
/** How much is parsed between two checks whether the head has ended, in UTF-16 units. */
const CHUNK = 4_096;

/** Reads the head of a page, or of its beginning, in time linear in its length. Never throws. */
export function pageHead(bytes: Uint8Array, contentType: string | null): PageHead {
  const text = decodedPage(bytes, contentType);
  const said = new Map<string, string>();
  const open: string[] = [];
  let title = '';
  let hasTitle = false;
  let isOver = false;
  const parser = new Parser({
    onopentag(name, { property, name: named, content }) {
      open.push(name);
      if (name === 'body' || open.length > DEPTH_MAX) isOver = true;
      const key = (property ?? named ?? '').toLowerCase();
      if (name === 'meta' && WANTED.has(key) && content && !said.has(key)) said.set(key, content);
    },
    onclosetag(name) {
      open.pop();
      if (name === 'title') hasTitle = true;
    },
    ontext(part) {
      if (!hasTitle && open.at(-1) === 'title') title += part;
    },
  });
  for (let at = 0; at < text.length && !isOver; at += CHUNK) parser.write(text.slice(at, at + CHUNK));
  const first = (names: readonly string[]) => names.map((name) => said.get(name)).find(Boolean) ?? null;
  return {
    title: first(NAMES.title) ?? (title || null),
    description: first(NAMES.description),
    site: first(NAMES.site),
    image: first(NAMES.image),
  };
}
