import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { NEWEST_MAX, PAGE_SIZE } from '../../../src/desk/dependencies.ts';
import { RAIL_MAX } from '../../../src/desk/papers/front.ts';
import { sectionSlug } from '../../../src/desk/papers/paper.ts';
import { verifyNode } from '../../../src/proof/ed25519.ts';
import { type Proof, proofFaults } from '../../../src/proof/proof.ts';
import { dayOf } from '../../../src/proof/time.ts';
import type { Piece } from './piece.ts';

interface FrontFile {
  rails: { slug: string; stories: { id: string; slug: string; revision: number; published_at: string }[] }[];
}
interface FeedFile {
  items: { date_published: string; url: string; _broadsheet: { piece: string; revision: number } }[];
}

/** A pressed paper as it is on disk, for one moment: what was parsed is kept as long as this object. */
export class Disk {
  readonly #parsed = new Map<string, unknown>();
  readonly #folder: string;
  readonly #root: string;

  constructor(folder: string, root: string) {
    this.#folder = folder;
    this.#root = root;
  }

  read(path: string): string | null {
    try {
      return readFileSync(join(this.#folder, path), 'utf8');
    } catch (error) {
      if (['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) return null;
      throw error;
    }
  }

  /** How many files there are. */
  count(): number {
    if (!existsSync(this.#folder)) return 0;
    return readdirSync(this.#folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile()).length;
  }

  /** What a piece's own files and the lists that show it do not show. */
  faults(piece: Piece, cards: boolean): string[] {
    if (piece.state === 'on_air') return this.#onAir(piece, cards);
    if (piece.withdrawn) return this.#withdrawn(piece);
    return this.#absent(piece);
  }

  #onAir(piece: Piece, cards: boolean): string[] {
    const { slug, headline, revision } = piece;
    const faults: string[] = [];
    const shows = (path: string, text: string) => {
      const found = this.read(path);
      if (found === null) faults.push(`${path} is not there`);
      else if (!found.includes(text)) faults.push(`${path} does not have ${JSON.stringify(text)}`);
      return found ?? '';
    };
    const page = shows(`stories/${slug}/index.html`, headline);
    const markdown = shows(`stories/${slug}.md`, headline);
    shows(`stories/${slug}.md`, `\nrevision: ${revision}\n`);
    shows(`embed/${slug}/index.html`, headline);
    const id = piece.id ?? field(markdown, 'id');
    if (id !== null) shows(`embed/${id}/index.html`, headline);
    faults.push(...this.#proof(slug, revision));
    const card = /<meta property="og:image" content="([^"]+)"/.exec(page)?.[1]?.slice(this.#root.length + 1);
    if (cards && card !== undefined && !existsSync(join(this.#folder, card)))
      faults.push(`${card}, which the page names, is not there`);
    const published = piece.published_at ?? Date.parse(field(markdown, 'published_at') ?? '');
    if (id === null || Number.isNaN(published)) return faults;
    if (field(markdown, 'published_at') !== new Date(published).toISOString())
      faults.push(`stories/${slug}.md says published_at ${field(markdown, 'published_at')}`);
    return [...faults, ...this.#listed(piece, id, published)];
  }

  #proof(slug: string, revision: number): string[] {
    const path = `stories/${slug}/proof.json`;
    const text = this.read(path);
    if (text === null) return [`${path} is not there`];
    const proof = JSON.parse(text) as Proof;
    if (proof.revision === revision && proof.generations.length === revision)
      return proofFaults(proof, verifyNode).map((fault) => `${path}: ${fault}`);
    return [
      `${path} is of revision ${proof.revision} with ${proof.generations.length} generations, not of ${revision}`,
    ];
  }

  /** Lists that have room for the piece must show it; a full one may hold newer pieces alone. */
  #listed({ slug, section, revision }: Piece, id: string, published: number): string[] {
    const faults: string[] = [];
    const inSection = sectionSlug(section);
    const rail = this.#front()?.rails.find((one) => one.slug === inSection)?.stories ?? [];
    const row = rail.find((one) => one.id === id);
    if (row === undefined) {
      if (rail.length < RAIL_MAX || rail.some((one) => Date.parse(one.published_at) < published))
        faults.push(`front.json does not list ${slug} under ${section}`);
    } else if (row.revision !== revision) faults.push(`front.json has revision ${row.revision} of ${slug}`);
    const items = this.#feed();
    const item = items.find(({ _broadsheet }) => _broadsheet.piece === id);
    if (item === undefined) {
      if (items.length < NEWEST_MAX || items.some((one) => Date.parse(one.date_published) < published))
        faults.push(`feed.json does not list ${slug}`);
    } else if (item._broadsheet.revision !== revision)
      faults.push(`feed.json has revision ${item._broadsheet.revision} of ${slug}`);
    const day = dayOf(published);
    if (!this.#links(`days/${day}/index.html`).has(slug)) faults.push(`days/${day}/index.html does not list ${slug}`);
    const newest = this.#links(`sections/${inSection}/index.html`);
    if (!newest.has(slug) && newest.size < PAGE_SIZE)
      faults.push(`sections/${inSection}/index.html does not list ${slug}`);
    const month = `sitemaps/${day.slice(0, 7)}.xml`;
    if (!this.#links(month).has(slug)) faults.push(`${month} does not list ${slug}`);
    return faults;
  }

  #withdrawn(piece: Piece): string[] {
    const { slug, headline, reason } = piece;
    const faults: string[] = [];
    const page = this.read(`stories/${slug}/index.html`);
    if (page === null) faults.push(`the notice stories/${slug}/index.html is not there`);
    else if (!page.includes(reason) || !page.includes(headline))
      faults.push(`stories/${slug}/index.html is not the notice with ${JSON.stringify([headline, reason])}`);
    for (const name of piece.id === null ? [slug] : [slug, piece.id]) {
      const embed = this.read(`embed/${name}/index.html`);
      if (!embed?.includes('was withdrawn')) faults.push(`embed/${name}/index.html is not a notice`);
    }
    for (const path of [`stories/${slug}.md`, `stories/${slug}/proof.json`])
      if (this.read(path) !== null) faults.push(`${path} is still there`);
    return [...faults, ...this.#unlisted(slug)];
  }

  #absent({ slug, id }: Piece): string[] {
    const paths = [`stories/${slug}/index.html`, `stories/${slug}.md`, `stories/${slug}/proof.json`];
    for (const name of id === null ? [slug] : [slug, id]) paths.push(`embed/${name}/index.html`);
    const there = paths.filter((path) => this.read(path) !== null);
    return [...there.map((path) => `${path} is there, and the piece is not on air`), ...this.#unlisted(slug)];
  }

  #unlisted(slug: string): string[] {
    const faults: string[] = [];
    if (this.#front()?.rails.some(({ stories }) => stories.some((row) => row.slug === slug)))
      faults.push(`front.json still lists ${slug}`);
    if (this.#feed().some(({ url }) => url.endsWith(`/stories/${slug}/`))) faults.push(`feed.json still lists ${slug}`);
    if (this.#links('index.html').has(slug)) faults.push(`index.html still links to ${slug}`);
    return faults;
  }

  #front(): FrontFile | null {
    return this.#once('front.json', (text) => (text === null ? null : (JSON.parse(text) as FrontFile)));
  }

  #feed(): FeedFile['items'] {
    return this.#once('feed.json', (text) => (text === null ? [] : (JSON.parse(text) as FeedFile).items));
  }

  /** Slugs of the stories that a page links to, apart from those whose corrections and withdrawals a front names. */
  #links(path: string): Set<string> {
    return this.#once(path, (text) => {
      const shown = (text ?? '').replace(/<section class="corrections-block"[\s\S]*?<\/section>/, '');
      return new Set(Array.from(shown.matchAll(/\/stories\/([^/"#]+)\/["<]/g), ([, slug]) => slug ?? ''));
    });
  }

  #once<T>(path: string, parse: (text: string | null) => T): T {
    if (!this.#parsed.has(path)) this.#parsed.set(path, parse(this.read(path)));
    return this.#parsed.get(path) as T;
  }
}

/** A value of a story's front matter. */
function field(markdown: string, name: string): string | null {
  const text = new RegExp(`^${name}: (.*)$`, 'm').exec(markdown)?.[1];
  return text === undefined ? null : String(JSON.parse(text));
}
