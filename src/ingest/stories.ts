import { airStory } from '../desk/airing.ts';
import { fileStory, sameContent } from '../desk/filing.ts';
import type { DeskFolder } from './desk-folder.ts';
import { baseName } from './desk-folder.ts';
import { inShortTransactions } from './short-transactions.ts';
import type { SourceFile } from './source-file.ts';
import { readSource } from './source-file.ts';
import type { StoryFile } from './story-file.ts';
import { storyFrom } from './story-file.ts';

/** One of a piece's files: `slug.md` is the first, `slug.2.md` the second. */
interface RevisionFile {
  n: number;
  path: string;
}

interface ReadStory {
  source: SourceFile;
  story: StoryFile;
}

/** Files the stories of a paper's folder. */
export class Stories {
  readonly #at: DeskFolder;

  constructor(at: DeskFolder) {
    this.#at = at;
  }

  /** Files the stories. `slug.md` is a piece, or its first revision where there is a `slug.2.md`. */
  async file(only?: Set<string>, signal?: AbortSignal): Promise<void> {
    const pieces = [...this.#revisions()].filter(([, files]) => !only || files.some(({ path }) => only.has(path)));
    if (pieces.length > 0) this.#at.intake.openSigningKey();
    let next = 0;
    const file = () => {
      const piece = pieces[next++];
      if (piece === undefined) return false;
      this.#piece(...piece);
      return true;
    };
    await inShortTransactions(this.#at.intake, file, { signal });
  }

  /** The files of each slug, ordered by number. Reports and skips slugs whose numbers are not 1, 2, 3 … */
  #revisions(): Map<string, RevisionFile[]> {
    const bySlug = new Map<string, RevisionFile[]>();
    for (const path of this.#at.files('stories', '.md')) {
      const [, slug = '', n] = /^(.*?)(?:\.([2-9]|[1-9]\d+))?$/.exec(baseName(path, '.md')) ?? [];
      const files = bySlug.get(slug) ?? [];
      files.push({ n: Number(n ?? 1), path });
      bySlug.set(
        slug,
        files.sort((a, b) => a.n - b.n),
      );
    }
    for (const [slug, files] of bySlug) {
      const at = files.findIndex(({ n }, index) => n !== index + 1);
      const astray = files[at];
      if (astray === undefined) continue;
      const before = files[at - 1];
      this.#at.problem(
        this.#at.name(astray.path),
        'slug',
        before?.n === astray.n
          ? `${this.#at.name(before.path)} is revision ${before.n} of ${slug} too; rename one of the two`
          : `there is no ${slug}${at === 0 ? '' : `.${at + 1}`}.md for it to revise; number the files of a piece ${slug}.md, ${slug}.2.md, ${slug}.3.md …`,
      );
      bySlug.delete(slug);
    }
    return bySlug;
  }

  /**
   * Files the new revisions of a piece. Files of older revisions must not have changed. Unchanged files are not filed
   * again, because the piece may have been revised elsewhere.
   */
  #piece(slug: string, files: RevisionFile[]): void {
    const { store } = this.#at.intake;
    const archive = store.archive(this.#at.slug);
    const before = archive.storyBySlug(slug);
    const sources = files.map(({ path }) => readSource(path, this.#at.name(path), 'markdown'));
    const areApplied = sources.every(({ file, digest }) => store.applied(file) === digest);
    if (before !== null && areApplied) {
      this.#at.result.unchanged++;
      return;
    }
    const read: ReadStory[] = [];
    for (const source of sources) {
      const { story, problems } = storyFrom(source, slug, archive.paper());
      this.#at.result.problems.push(...source.problems, ...source.locate(problems));
      if (story === undefined) return;
      read.push({ source, story });
    }
    const filed = before === null ? [] : archive.revisions(before.id);
    // The index of each file's revision among the filed ones, in order; -1 for a file that was not filed.
    let next = 0;
    const places = read.map(({ story: { filing } }) => {
      const place = filed.findIndex((piece, index) => index >= next && sameContent(piece, filing));
      if (place >= 0) next = place + 1;
      return place;
    });
    const last = places.findLastIndex((place) => place >= 0);
    const altered =
      filed.length === 0 || read.length === 1
        ? -1
        : places.findIndex((place, index) => place < 0 && index < Math.max(last, 1));
    const history = read[altered];
    if (history !== undefined) {
      this.#at.problem(
        history.source.file,
        'file',
        `this is an older revision and not as it was filed, and what was filed is never changed; put its text back, and make the change in ${slug}.${files.length + 1}.md`,
      );
      return;
    }
    // Without a record of which file was filed, as after a ledger import, an already filed text is filed again only
    // if it is the newest revision, because its `air` may still have to be applied.
    const newest = read.at(-1)?.source.file ?? '';
    const isOld = store.applied(newest) === null && last === read.length - 1 && places[last] !== filed.length - 1;
    if (isOld) this.#at.result.unchanged++;
    else {
      for (const one of read.slice(Math.min(last + 1, read.length - 1))) if (!this.#story(slug, one)) return;
    }
    for (const { file, digest } of sources) store.setApplied(file, digest);
  }

  /** Files one story. Returns false when it was rejected. */
  #story(slug: string, { source, story: { filing, air } }: ReadStory): boolean {
    const { desk, store } = this.#at.intake;
    try {
      const before = store.archive(this.#at.slug).storyBySlug(slug);
      // Withdrawn or unscheduled pieces stay off the air.
      const airs = air !== false && (before === null || before.withdrawn_at === null);
      const { changed } = fileStory(desk, this.#at.slug, filing, { by: 'cli', toAir: airs });
      const at = typeof air === 'number' ? { at: air } : {};
      const aired = airs && airStory(desk, this.#at.slug, slug, { by: 'cli', ...at }).changed;
      if (changed || aired) this.#at.result.filed.push(source.file);
      else this.#at.result.unchanged++;
      return true;
    } catch (error) {
      this.#at.report(source, error, 'prose');
      return false;
    }
  }
}
