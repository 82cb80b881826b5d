import { normalized } from '../../shared/combining-marks.ts';
import { Fault, refusalOf } from '../../shared/fault.ts';
import { shapeProblems } from '../../shared/shape.ts';
import { lineProblems, quote } from '../../shared/shown-text.ts';
import { append } from '../append.ts';
import { SLUG } from '../door/door.ts';
import type { Persona } from '../papers/masthead.ts';
import { isPaperSlug, PaperBody, SECTION_MAX, SECTIONS_MAX, sectionSlug } from '../papers/paper.ts';
import { removedProblem } from '../papers/removal.ts';
import type { ArchiveLines } from './import-lines.ts';
import type { Intake } from './intake.ts';

/** The persona that signs imported pieces, and how to create what the paper lacks. */
export interface ImportPaper {
  persona: string;
  /** Appends the missing paper, sections and persona to the ledger. */
  create(): void;
}

/** The persona that `--create` adds if none is named and the paper has none. */
const DEFAULT_PERSONA = 'archive-desk';

/** Throws `not_found` if the paper does not exist, `invalid_request` if it is not clear which persona signs. */
export function existingPaper({ store }: Intake, paper: string, persona: string | undefined): ImportPaper {
  if (!store.hasPaper(paper)) {
    const message = `there is no paper ${JSON.stringify(paper)}; create it with --create, or file a content folder first`;
    throw new Fault('not_found', message);
  }
  const active = store.archive(paper).masthead();
  const found = persona === undefined && active.length === 1 ? active[0] : active.find(({ slug }) => slug === persona);
  if (found === undefined) {
    const message = `name the persona that signs with --persona; ${paper} has ${active.map(({ slug }) => slug).join(', ') || 'none'}`;
    throw new Fault('invalid_request', message);
  }
  return { persona: found.slug, create() {} };
}

/**
 * The paper with every section of the archive, and a persona. Throws `invalid_request`, `refused_by_door`, and `conflict`
 * for a paper that was removed.
 */
export async function createdPaper(
  { store, now }: Intake,
  paper: string,
  lines: ArchiveLines,
  persona: string | undefined,
): Promise<ImportPaper> {
  if (!isPaperSlug(paper) && !store.hasPaper(paper)) {
    const message = `${JSON.stringify(paper)} cannot be a paper's address; use a–z, 0–9 and single hyphens, and no name that the server uses itself`;
    throw new Fault('invalid_request', message);
  }
  if (persona !== undefined && !SLUG.test(persona)) {
    const message = `--persona ${JSON.stringify(persona)} cannot be a persona's address; use a–z, 0–9 and single hyphens`;
    throw new Fault('invalid_request', message);
  }
  const wanted = [...new Set((await lines.sections()).map((section) => normalized(section).trim()))];
  /** The paper's current record with the missing sections added; null if none are missing. */
  const completed = () => {
    const removed = removedProblem(store, paper);
    if (removed !== null) throw new Fault('conflict', removed);
    const before = store.paper(paper);
    const { slug: _slug, edition: _edition, changed_at: _changed, ...old } = before ?? {};
    const known = before?.sections ?? [];
    const added = wanted.filter((section) => !known.includes(section));
    if (known.length + added.length === 0) throw new Fault('invalid_request', lines.noSection);
    requireSections(known, added, lines.otherSection);
    const sections = [...known, ...added];
    const body = PaperBody.safeParse({ nameplate: titleOf(paper), ...old, sections });
    if (!body.success) throw refusalOf(shapeProblems(body.error, { sections }));
    return before !== null && added.length === 0 ? null : body.data;
  };
  completed();
  const slug = persona ?? store.archive(paper).masthead()[0]?.slug ?? DEFAULT_PERSONA;
  const create = () => {
    const at = now();
    // Another import may have added sections meanwhile.
    const body = completed();
    if (body !== null) append(store, { type: 'record', at, paper, kind: 'paper', name: '', body });
    if (store.archive(paper).persona(slug) === null) {
      append(store, { type: 'record', at, paper, kind: 'persona', name: slug, body: personaOf(slug) });
    }
  };
  return { persona: slug, create };
}

/** Throws `invalid_request` for the first section that the paper cannot have, or for too many sections. */
function requireSections(known: readonly string[], added: readonly string[], cure: string): void {
  const count = known.length + added.length;
  if (count > SECTIONS_MAX) {
    const some = `${added.slice(0, 3).map(quote).join(', ')}${added.length > 3 ? ' …' : ''}`;
    const message = `a paper has at most ${SECTIONS_MAX} sections, and with the ${added.length} that the archive adds (${some}) it would have ${count}; ${cure}`;
    throw new Fault('invalid_request', message);
  }
  const bySlug = new Map(known.map((section) => [sectionSlug(section), section]));
  for (const section of added) {
    const same = bySlug.get(sectionSlug(section));
    const problem =
      lineProblems('section', section, SECTION_MAX, true)[0]?.message ??
      (same === undefined ? null : `it would have the same address as ${quote(same)}`);
    if (problem !== null) throw new Fault('invalid_request', `the section ${quote(section)}: ${problem}; ${cure}`);
    bySlug.set(sectionSlug(section), section);
  }
}

function personaOf(slug: string): Persona {
  return {
    slug,
    name: titleOf(slug),
    title: 'Archive editor',
    beat: 'Pieces that were first published elsewhere, each with its credit.',
    bio: '',
    avatar: null,
    active: true,
  };
}

function titleOf(slug: string): string {
  return slug
    .split('-')
    .map((word) => word.slice(0, 1).toUpperCase() + word.slice(1))
    .join(' ');
}
