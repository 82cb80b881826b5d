import type { Pages } from '../press/views.ts';

/** A page of an output, before it is rendered. */
export interface ExpectedPage {
  route: keyof Pages;
  view: object;
}

/**
 * How a page on disk differs from its view, as far as this is visible without rendering: the pieces it links to,
 * their headlines, and the receipt or withdrawal on a piece's own page. Null when nothing differs.
 */
export function pageFault({ route, view: expected }: ExpectedPage, html: string, base: string): string | null {
  // The embedded player shows no list, though its view contains the one of its day.
  const view = route === '/paper/cast-embed' ? { ...expected, frame: undefined, rows: [] } : expected;
  const text = withoutWholes(html);
  for (const required of requiredTexts(route, view)) {
    if (!text.includes(escaped(required))) return `it does not show ${JSON.stringify(required.slice(0, 80))}`;
  }
  const wanted = storiesIn(JSON.stringify(view), base);
  const found = storiesIn(html, base);
  for (const slug of wanted) if (!found.has(slug)) return `it does not name the piece ${slug}`;
  for (const slug of found) if (!wanted.has(slug)) return `it names the piece ${slug}, which does not belong there`;
  return null;
}

/** A page without the elements that keep compounds of a headline on one line (`parts/Headline.astro`). */
function withoutWholes(html: string): string {
  return html.replace(/<span class="whole">([^<]*)<\/span>/g, '$1');
}

/** Texts that the page must contain. */
function* requiredTexts(route: keyof Pages, view: object): Iterable<string> {
  const { frame, ...rest } = view as { frame?: { canonical_absolute: string } } & Record<string, unknown>;
  if (frame !== undefined) yield frame.canonical_absolute;
  if (route === '/paper/story') {
    const { content_hash, receipt } = rest as { content_hash: string; receipt: { filed_at: string } };
    yield content_hash;
    yield receipt.filed_at;
  }
  if (route === '/paper/withdrawn') yield (rest as { withdrawn_at: string }).withdrawn_at;
  if (route === '/paper/embed') {
    const { withdrawn_at, published_at, story_absolute } = rest as Record<string, string | null>;
    yield story_absolute ?? '';
    yield withdrawn_at ?? published_at ?? '';
  }
  yield* headlines(rest);
}

/** The headline of every piece in a view. */
function* headlines(value: unknown): Iterable<string> {
  if (typeof value !== 'object' || value === null) return;
  for (const [name, inner] of Object.entries(value)) {
    if (name === 'headline' && typeof inner === 'string') yield inner;
    else if (typeof inner === 'object') yield* headlines(inner);
  }
}

/** Slugs of the pieces whose pages a text links to. */
function storiesIn(text: string, base: string): Set<string> {
  const slugs = new Set<string>();
  const start = `${base}/stories/`;
  for (let at = text.indexOf(start); at >= 0; at = text.indexOf(start, at + 1)) {
    const end = text.indexOf('/', at + start.length);
    // The page itself, not its proof or its Markdown.
    if (end >= 0 && /["\\]/.test(text[end + 1] ?? '')) slugs.add(text.slice(at + start.length, end));
  }
  return slugs;
}

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

/** A text as the renderer escapes it. */
function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? character);
}
