import { proseHtml } from '../../src/desk/press/prose-html.ts';
import { basisOf, contentHash, type Hashed, sha256 } from '../../src/proof/basis.ts';
import type { Generation } from '../../src/proof/chain.ts';
import { vkey } from '../../src/proof/keyring.ts';
import type { LogProof } from '../../src/proof/log/log-proof.ts';
import { present } from '../../src/proof/narrow.ts';
import { parseNote } from '../../src/proof/note.ts';
import { keysFromVkeys, proofOf } from '../../src/proof/proof.ts';
import { parseReceipt, type Receipt } from '../../src/proof/receipt.ts';
import { filing } from './app-context.ts';
import { DeskLog, type FileSite, publishLog } from './desk-log.ts';

/** A paper and its log, both published as files of a site, as a monitor sees a desk. */
export class LoggedPaper {
  readonly site: FileSite;
  log: DeskLog;
  readonly #stories = new Map<string, { piece: Hashed; generations: Generation[] }>();
  readonly #keys = new Set<string>();

  constructor(site: FileSite, log = new DeskLog()) {
    this.site = site;
    this.log = log;
  }

  get url(): string {
    return `${this.site.url}tide-table/`;
  }

  address(slug: string): string {
    return `${this.url}stories/${slug}/`;
  }

  /** Files a revision and publishes it; unless `isLogged`, the log does not get its receipt. */
  publish(
    slug: string,
    more: Partial<Hashed> = {},
    { isLogged = true, receipt = {} as Partial<Receipt> } = {},
  ): string {
    const before = this.#stories.get(slug);
    const revision = (before?.piece.revision ?? 0) + 1;
    const { headline, dek, prose, cited_facts, category, kind, credit, authors, written_by, provenance } = filing(slug);
    const byline = { name: 'Ines Calloway', title: 'Editor' };
    const body = { headline, dek, prose, cited_facts, category, kind, byline, credit, authors, written_by, provenance };
    const piece: Hashed = { id: slug, revision, ...body, ...more };
    const content_hash = contentHash(basisOf(piece));
    const prev = before?.generations.at(-1)?.receipt_hash ?? null;
    const note = this.log.receipt(slug, { revision, content_hash, prev, ...receipt });
    if (isLogged) this.log.append([note]);
    const generations = [...(before?.generations ?? []), generationOf(note)];
    this.#stories.set(slug, { piece, generations });
    this.#keys.add(vkey(this.log.signer.name, this.log.signer.publicKey));
    this.press(slug);
    return note;
  }

  /** Writes a story's page and proof. */
  press(slug: string, log: LogProof | null = null): void {
    const { piece, generations } = present(this.#stories.get(slug));
    const keys = keysFromVkeys([...this.#keys]);
    const keysUrl = `${this.url}.well-known/newsdesk-keys.json`;
    const proof = proofOf(piece, { generations, keys, keysUrl, log });
    const { html } = proseHtml(piece.prose, piece.cited_facts, (path) => path);
    const { files } = this.site;
    files.set(`tide-table/stories/${slug}/proof.json`, JSON.stringify(proof));
    files.set(
      `tide-table/stories/${slug}/index.html`,
      `<h1>${piece.headline}</h1><p>${piece.dek}</p><div>${html}</div><p>${proof.content_hash}</p>`,
    );
    files.set(`tide-table/stories/${slug}/`, present(files.get(`tide-table/stories/${slug}/index.html`)));
    this.list();
  }

  /** Removes a story's files. With `forgets`, its next filing is a first revision again. */
  remove(slug: string, { forgets = false } = {}): void {
    for (const name of ['', 'index.html', 'proof.json']) this.site.files.delete(`tide-table/stories/${slug}/${name}`);
    if (forgets) this.#stories.delete(slug);
    this.list();
  }

  list(): void {
    const there = [...this.#stories.keys()].filter((slug) => this.site.files.has(`tide-table/stories/${slug}/`));
    const rows = there.map((slug) => `<url><loc>${this.address(slug)}</loc></url>`);
    const sitemap = `<sitemapindex><sitemap><loc>${this.url}sitemaps/2026-06.xml</loc></sitemap></sitemapindex>`;
    this.site.files.set('tide-table/sitemap.xml', sitemap);
    this.site.files.set('tide-table/sitemaps/2026-06.xml', `<urlset>${rows.join('')}</urlset>`);
    this.site.files.set('robots.txt', `User-agent: *\n\nSitemap: ${this.url}sitemap.xml\n`);
  }

  /** Publishes the log's present head. */
  publishLog(checkpoint = this.log.checkpoint()): void {
    for (const path of this.site.files.keys()) if (path.startsWith('log/')) this.site.files.delete(path);
    publishLog(this.site, this.log, 'log/', checkpoint);
  }
}

function generationOf(note: string): Generation {
  const text = parseNote(note)?.text ?? '';
  const { revision, seq, content_hash, filed_at, kid } = present(parseReceipt(text));
  return { revision, seq, content_hash, receipt_hash: sha256(text), filed_at, kid, receipt: note };
}
