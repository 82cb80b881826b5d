import { refusalOf } from '../../shared/fault.ts';
import { newId } from '../../shared/new-id.ts';
import { pushAll } from '../../shared/push-all.ts';
import type { Problem } from '../../shared/shape.ts';
import { airingChange, type Change, FOLDER_ACTOR, frontChanges, pieceSubject, recordActivity } from '../activity.ts';
import { airStory } from '../airing.ts';
import type { Archive, StateName, Story } from '../archive.ts';
import { ofGiven, type Repaired } from '../door/repair.ts';
import { doorProblems, fileStory, paperRules, sameContent } from '../file-story.ts';
import { type PlacementBody, placeOf } from '../placement.ts';
import { placeStory, unplaceable } from '../placing.ts';
import type { DeskFolder } from './desk-folder.ts';
import { inShortTransactions } from './short-transactions.ts';
import type { SourceFile } from './source-file.ts';
import { type StoryFile, storyFrom } from './story-file.ts';
import { piecesWithoutFile, storyName, type WithoutFile } from './story-files.ts';

/** One of a piece's files: `slug.md` is the first, `slug.2.md` the second. */
interface RevisionFile {
  n: number;
  path: string;
}

/** The files of each slug, ordered by number. Reports and skips slugs whose numbers are not 1, 2, 3 … */
export function storyFiles(at: DeskFolder, paths = at.files('stories', '.md')): Map<string, RevisionFile[]> {
  const named = paths.map((path) => ({ ...storyName(path), path }));
  const bySlug = Map.groupBy(named, ({ slug }) => slug);
  for (const files of bySlug.values()) files.sort((a, b) => a.n - b.n);
  for (const [slug, files] of bySlug) {
    const wrong = files.findIndex(({ n }, index) => n !== index + 1);
    const astray = files[wrong];
    if (astray === undefined) continue;
    const before = files[wrong - 1];
    at.refuse(
      astray.path,
      'slug',
      before?.n === astray.n
        ? `${at.name(before.path)} is revision ${before.n} of ${slug} too; rename one of the two`
        : `there is no ${slug}${wrong === 0 ? '' : `.${wrong + 1}`}.md for it to revise; number the files of a piece ${slug}.md, ${slug}.2.md, ${slug}.3.md …`,
    );
    bySlug.delete(slug);
  }
  return bySlug;
}

interface ReadStory {
  source: SourceFile;
  story: StoryFile;
}

export class Stories {
  readonly #at: DeskFolder;
  #bySlug = new Map<string, RevisionFile[]>();

  constructor(at: DeskFolder) {
    this.#at = at;
  }

  /** Files the stories. `slug.md` is a piece, or its first revision where there is a `slug.2.md`. */
  async file(only?: Set<string>, signal?: AbortSignal): Promise<void> {
    const paths = this.#at.files('stories', '.md');
    this.#bySlug = storyFiles(this.#at, paths);
    const pieces = [...this.#bySlug].filter(([, files]) => !only || files.some(({ path }) => only.has(path)));
    if (pieces.length > 0) this.#at.intake.openSigningKey();
    let next = 0;
    const file = () => {
      const piece = pieces[next++];
      if (piece === undefined) return false;
      this.#piece(...piece);
      return true;
    };
    await inShortTransactions(this.#at.intake, file, { signal });
    if (only === undefined) pushAll(this.#at.result.without_file, this.#withoutFile(paths));
  }

  #withoutFile(paths: string[]): WithoutFile[] {
    const { slug, intake } = this.#at;
    const archive = intake.store.archive(slug);
    const names = intake.store.appliedIn(`${slug}/stories/`);
    const filed = new Map(names.map((name) => [name, intake.store.applied(name) ?? '']));
    const present = paths.map((path) => this.#at.name(path));
    return piecesWithoutFile(slug, filed, present, (piece) => archive.storyBySlug(piece)?.state ?? null);
  }

  /**
   * Files new revisions. Files of older revisions must be unchanged. Skips unchanged pieces, even if revised elsewhere.
   */
  #piece(slug: string, files: RevisionFile[]): void {
    const { store } = this.#at.intake;
    const archive = store.archive(this.#at.slug);
    const before = archive.storyBySlug(slug);
    const sources = files.map(({ path }) => this.#at.read(path, 'markdown'));
    const areApplied = sources.every(({ file, digest }) => store.applied(file) === digest);
    if (before !== null && areApplied) {
      this.#at.result.unchanged++;
      return;
    }
    const read: ReadStory[] = [];
    for (const source of sources) {
      const { story, problems, rest } = storyFrom(source, slug, archive.paper());
      this.#at.result.problems.push(...source.problems, ...source.locate(problems));
      if (story === undefined) {
        if (rest !== undefined) this.#at.result.problems.push(...source.locate(this.#furtherProblems(rest, archive)));
        return;
      }
      read.push({ source, story });
    }
    const filed = before === null ? [] : archive.revisions(before.id);
    // The index of each file's revision among the filed ones, in order; -1 for a file that was not filed.
    let next = 0;
    const positions = read.map(({ story: { filing } }) => {
      const position = filed.findIndex((piece, index) => index >= next && sameContent(piece, filing));
      if (position >= 0) next = position + 1;
      return position;
    });
    const last = positions.findLastIndex((position) => position >= 0);
    const altered =
      filed.length === 0 || read.length === 1
        ? -1
        : positions.findIndex((position, index) => position < 0 && index < Math.max(last, 1));
    const history = read[altered];
    if (history !== undefined) {
      this.#at.problem(
        history.source.file,
        'file',
        `this is an older revision and not as it was filed, and what was filed is never changed; put its text back, and make the change in ${slug}.${files.length + 1}.md`,
      );
      return;
    }
    // If it is not recorded which file was filed, as after a ledger import, a text that was already filed is only filed
    // again if it is the newest revision, because its `air` may still have to be applied.
    const newest = read.at(-1)?.source.file ?? '';
    const isOld = store.applied(newest) === null && last === read.length - 1 && positions[last] !== filed.length - 1;
    if (isOld) this.#at.result.unchanged++;
    else {
      for (const one of read.slice(Math.min(last + 1, read.length - 1)))
        if (!this.#story(slug, one, one === read.at(-1))) return;
    }
    for (const { file, digest } of sources) store.setApplied(file, digest);
  }

  /** The problems that the door finds in a file that already has others. */
  #furtherProblems({ data: { filing, air }, fields }: Repaired<StoryFile>, archive: Archive): Problem[] {
    const options = { now: this.#at.intake.now(), toAir: air !== false };
    return ofGiven(doorProblems(filing, paperRules(archive), options), fields);
  }

  /** Files one story. Returns false when it was rejected. */
  #story(slug: string, { source, story: { filing, air, placement } }: ReadStory, isNewest: boolean): boolean {
    const { desk, store } = this.#at.intake;
    try {
      const before = store.archive(this.#at.slug).storyBySlug(slug);
      // Withdrawn or unscheduled pieces stay off the air.
      const airs = air !== false && (before === null || before.withdrawn_at === null);
      const place = isNewest && !isOver(placement, this.#at.intake.now()) ? placement : null;
      if (place !== null) this.#requirePlace(slug, place, airs ? 'on_air' : (before?.state ?? 'draft'));
      const { changed, story } = fileStory(desk, this.#at.slug, filing, { by: 'cli', toAir: airs });
      const at = typeof air === 'number' ? { at: air } : {};
      const aired = airs ? airStory(desk, this.#at.slug, slug, { by: 'cli', ...at }) : null;
      const placed = isNewest ? this.#place(story, place) : [];
      const filed: Change[] = changed
        ? [{ action: story.revision === 1 ? 'piece.filed' : 'piece.revised', subject: pieceSubject(story) }]
        : [];
      const did = [...filed, ...(aired?.changed ? [airingChange(aired.story)] : []), ...placed];
      recordActivity(store, { paper: this.#at.slug, now: desk.now(), newId }, FOLDER_ACTOR, did);
      if (did.length > 0) this.#at.result.filed.push(source.file);
      else this.#at.result.unchanged++;
      return true;
    } catch (error) {
      this.#at.report(source, error, 'prose');
      return false;
    }
  }

  /** Throws `refused_by_door` when the piece cannot be placed, or when another piece's file requests the same place. */
  #requirePlace(slug: string, { lead, pin }: PlacementBody, state: StateName): void {
    const { store, now } = this.#at.intake;
    const problem = unplaceable({ slug, state }, slug);
    if (problem !== null) throw refusalOf([{ field: 'placement', ...problem }]);
    const archive = store.archive(this.#at.slug);
    const placement = archive.placement();
    const holder = lead ? placement.lead : placement.pins.find((place) => place.pin === pin);
    const other = holder == null ? null : archive.storyById(holder.piece);
    const file = other === null || other.slug === slug ? undefined : this.#bySlug.get(other.slug)?.at(-1);
    if (file === undefined || other === null) return;
    const source = this.#at.read(file.path, 'markdown');
    const { story } = storyFrom(source, other.slug, archive.paper());
    if (story?.placement == null || isOver(story.placement, now())) return;
    if (story.placement.lead !== lead || story.placement.pin !== pin) return;
    const what = lead ? 'leads the front too' : `has place ${pin} too`;
    const message = `${source.file} ${what}; take placement out of one of the two files, or give the other an until that is over`;
    throw refusalOf([{ field: 'placement', rule: 'place_taken', message }]);
  }

  /** Gives a piece the place that its file requests, or frees the place that the file requested before. */
  #place(story: Story, place: PlacementBody | null): Change[] {
    const { desk, store } = this.#at.intake;
    const before = store.archive(this.#at.slug).placement();
    if (place === null && placeOf(before, story.id)?.made_by !== 'cli') return [];
    return frontChanges(before, placeStory(desk, this.#at.slug, story, place, 'cli'));
  }
}

/** Whether a requested place has expired. It is then ignored, so that an old folder can be filed again. */
function isOver(placement: PlacementBody | null, now: number): boolean {
  return placement?.until !== undefined && Date.parse(placement.until) <= now;
}
