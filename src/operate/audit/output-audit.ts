import { join } from 'node:path';
import type { Archive } from '../../desk/archive.ts';
import { Edition, type Site } from '../../desk/press/edition.ts';
import type { Render, RenderedFile, RenderTools } from '../../desk/press/output.ts';
import { outputNamed } from '../../desk/press/outputs/all.ts';
import { hosting } from '../../desk/press/outputs/documents.ts';
import { NEWS_AGE, news } from '../../desk/press/outputs/sitemap.ts';
import { fontsBeside, withPageFonts } from '../../desk/press/page-fonts.ts';
import type { Pages } from '../../desk/press/views.ts';
import { sha256 } from '../../proof/basis.ts';
import type { AppStore } from '../../server/context.ts';
import { CLI } from '../../shared/command-line.ts';
import { messageOf } from '../../shared/fault.ts';
import { digestOf } from '../../shared/files/file-digest.ts';
import { bytesIn } from '../../shared/files/plain-file.ts';

/** The remedy for most faults of a tree. */
export const PRESS_AGAIN = `run \`${CLI} press --full\``;
export const UNCALLED = `the manifest lists this file, which the ledger does not call for; ${PRESS_AGAIN}`;

interface OutputAuditJob {
  store: AppStore;
  paper: string;
  archive: Archive;
  site: Site;
  /** The paper's tree. */
  folder: string;
  tools: RenderTools;
  /** Whether to render pages and draw cards again. The smaller sizes of pictures are taken from DATA_DIR. */
  deep: boolean;
}

/** A file of an output. `page` is set for a page that was not rendered. */
interface Expected {
  item: RenderedFile;
  page: ExpectedPage | null;
}

export type OutputAudit = ReturnType<typeof outputAudit>;

/**
 * Compares the files of outputs with what the ledger requires: documents byte for byte, and pages by their texts, or
 * with `deep` also byte for byte. The manifest must list exactly these files and bytes.
 */
export function outputAudit({ store, paper, archive, site, folder, tools, deep }: OutputAuditJob) {
  const edition = () => new Edition(archive, site);

  /** The files of an output. Unless the audit is deep, records pages without rendering them. */
  async function expectedFiles(name: string, current: Edition): Promise<Expected[]> {
    const found = outputNamed(name);
    if (found === null) return [];
    const pages = new Map<unknown, ExpectedPage>();
    const render: Render = (route, view) => {
      const token = `\0page ${pages.size}`;
      pages.set(token, { route, view });
      return Promise.resolve(token);
    };
    // The headers contain the hashes of scripts, which only rendered pages have.
    const isRendered = deep || found.output === hosting;
    const sitemap = found.output === news ? bytesIn(join(folder, 'sitemap-news.xml')) : null;
    const now = found.output === news ? newsMoment(archive, sitemap?.toString('latin1') ?? '', tools.now) : tools.now;
    const printed = await found.output.print(current, found.key, { ...tools, now, ...(isRendered ? {} : { render }) });
    return withPageFonts(printed ?? [], site).flatMap((item) => {
      const page = pages.get('body' in item ? item.body : null) ?? null;
      // For a page that was not rendered, the file on disk says which fonts it needs.
      const html = page === null ? null : bytesIn(join(folder, item.path));
      const fonts = html === null ? [] : fontsBeside(item.path, html.toString('utf8'), site);
      return [{ item, page }, ...fonts.map((font) => ({ item: font, page: null }))];
    });
  }

  /** The fault of a file; null when there is none. */
  async function fileFault({ item, page }: Expected, listed: string | undefined): Promise<string | null> {
    if ('copy' in item) return verdict(digestOf(join(folder, item.path)), listed, item.copy);
    const bytes = bytesIn(join(folder, item.path));
    const wanted = page === null ? await wantedDigest(item) : null;
    const fault = verdict(bytes === null ? null : sha256(bytes), listed, wanted);
    if (fault !== null || page === null || bytes === null) return fault;
    const difference = pageFault(page, bytes.toString('utf8'), site.base);
    return difference === null ? null : `the page does not match the ledger: ${difference}; ${PRESS_AGAIN}`;
  }

  /** The digest that a file must have; null when only a deep audit can tell. */
  async function wantedDigest(item: RenderedFile): Promise<string | null> {
    if ('same' in item) return digestOf(join(folder, item.same));
    if ('draw' in item) return deep ? sha256(await item.draw()) : null;
    return 'body' in item ? sha256(Buffer.from(item.body)) : null;
  }

  /** The files of one output, and their faults. */
  async function check(name: string): Promise<{ paths: string[]; faults: string[] }> {
    const current = edition();
    let expected: Expected[];
    try {
      expected = await expectedFiles(name, current);
    } catch (error) {
      const why = messageOf(error).split('\n')[0];
      return { paths: [], faults: [`${paper}: ${name} cannot be made from the database (${why})`] };
    }
    const listed = new Map(store.desk.manifest.files(paper, name).map(({ path, digest }) => [path, digest]));
    const dependencies = store.desk.dependenciesRead(paper, name);
    const faults: string[] = [];
    for (const one of expected) {
      const { path } = one.item;
      const fault = await fileFault(one, listed.get(path));
      if (fault !== null) faults.push(`${paper}/${path}: ${fault}`);
      listed.delete(path);
    }
    for (const path of listed.keys()) faults.push(`${paper}/${path}: ${UNCALLED}`);
    if (dependencies !== (expected.length === 0 ? null : current.reads.join('\n'))) {
      faults.push(`${paper}: the manifest does not list what ${name} reads, so it would miss changes; ${PRESS_AGAIN}`);
    }
    return { paths: expected.map(({ item }) => item.path), faults };
  }

  return { edition, check };
}

function verdict(found: string | null, listed: string | undefined, wanted: string | null): string | null {
  if (found === null) return `the file is missing; ${PRESS_AGAIN}`;
  if (wanted !== null && found !== wanted && found === listed) {
    return `the file does not match the ledger, though the manifest lists it; remove it and ${PRESS_AGAIN}`;
  }
  if (listed === undefined) return `the manifest does not list the file; ${PRESS_AGAIN}`;
  if (found !== listed) return `the file was altered; ${PRESS_AGAIN}`;
  return null;
}

/**
 * The moment that the news sitemap on disk reflects. Only this file's content expires: a server presses it every ten
 * minutes, and without a server it stays as the last press left it. It may therefore list pieces that are too old by
 * now, but it must be right for some moment between the newest piece and now. A piece dated in the future, signed by a
 * clock that ran ahead, is ignored: the press knew no later moment than now.
 */
function newsMoment(archive: Archive, xml: string, now: number): number {
  const named = xml.split('<url>').length - 1;
  const newest = archive.latest({ limit: 1 })[0]?.published_at;
  if (named === 0 || newest === undefined) return now;
  const oldest = archive.latest({ limit: named }).at(-1)?.published_at ?? now;
  return Math.min(now, Math.max(newest, oldest + NEWS_AGE));
}

/** A page of an output, before it is rendered. */
interface ExpectedPage {
  route: keyof Pages;
  view: object;
}

/**
 * How a page differs from its view, as far as can be seen without rendering: pieces, headlines, receipt or withdrawal.
 * Null when it does not.
 */
export function pageFault({ route, view: expected }: ExpectedPage, html: string, base: string): string | null {
  // The embedded player shows no list, though its view contains the one of its day.
  const view = route === '/paper/cast-embed' ? { ...expected, frame: undefined, rows: [] } : expected;
  // Without the elements that keep compounds of a headline on one line (`parts/Headline.astro`).
  const text = html.replace(/<span class="whole">([^<]*)<\/span>/g, '$1');
  for (const required of requiredTexts(route, view)) {
    const escaped = required.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? character);
    if (!text.includes(escaped)) return `it does not show ${JSON.stringify(required.slice(0, 80))}`;
  }
  const wanted = storiesIn(JSON.stringify(view), base);
  const found = storiesIn(html, base);
  for (const slug of wanted) if (!found.has(slug)) return `it does not name the piece ${slug}`;
  for (const slug of found) if (!wanted.has(slug)) return `it names the piece ${slug}, which does not belong there`;
  return null;
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

/** How the renderer escapes a text. */
const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };
