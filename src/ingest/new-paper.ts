import { existsSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { PersonaBody } from '../desk/masthead.ts';
import { isPaperSlug, PaperBody } from '../desk/paper.ts';
import type { Problem } from '../fault.ts';
import { codeOf, Fault, messageOf } from '../fault.ts';
import { makeFolder, syncFile, syncFolder } from '../files/durable-file.ts';
import { shapeProblems } from '../ledger/shape.ts';
import { shownProblems } from '../ledger/shown-text.ts';
import type { NewPaper } from './paper-skeleton.ts';
import { paperSkeleton } from './paper-skeleton.ts';

/** What was asked for, as typed. */
export interface AskedPaper {
  slug: string;
  name: string;
  language: string;
  url: string | undefined;
  sections: string[];
  /** `Name, Title`. */
  persona: string;
}

/** The paper that was asked for, or every problem with it, each named after its option. */
export function newPaper(asked: AskedPaper): { paper: NewPaper; problems: Problem[] } {
  const { slug, url, language } = asked;
  const [name = '', ...rest] = asked.persona.split(',');
  const record = { nameplate: asked.name, language, sections: asked.sections, ...(url === undefined ? {} : { url }) };
  const persona = { name: name.trim(), title: rest.join(',').trim() };
  const problems: Problem[] = [];
  if (!isPaperSlug(slug)) {
    const message = `${JSON.stringify(slug)} cannot be a paper's address; use 1 to 60 of a–z, 0–9 and single hyphens, and no name that the server uses itself`;
    problems.push({ field: 'SLUG', rule: 'bad_slug', message });
  }
  const body = PaperBody.safeParse(record);
  if (!body.success) problems.push(...shapeProblems(body.error, record).map(asOption));
  const parsed = PersonaBody.safeParse(persona);
  if (persona.title === '') {
    const message = `${JSON.stringify(asked.persona)} has no title; write a name, a comma and a title, as in "Ada Holm, Editor"`;
    problems.push({ field: '--persona', rule: 'no_title', message });
  } else if (!parsed.success) {
    problems.push(...shapeProblems(parsed.error, persona).map((problem) => ({ ...problem, field: '--persona' })));
  }
  const { nameplate = '', sections = [] } = body.data ?? {};
  problems.push(
    ...shownProblems('--name', nameplate),
    ...sections.flatMap((section) => shownProblems('--section', section)),
    ...[persona.name, persona.title].flatMap((text) => shownProblems('--persona', text)),
  );
  return {
    paper: { slug, nameplate, language, url: body.data?.url, sections, persona: parsed.data ?? persona },
    problems,
  };
}

const OPTIONS: Record<string, string> = {
  nameplate: '--name',
  language: '--language',
  url: '--url',
  sections: '--section',
};

function asOption(problem: Problem): Problem {
  return { ...problem, field: OPTIONS[problem.field.split(/[[.]/)[0] ?? ''] ?? problem.field };
}

/**
 * Writes the folder of a new paper: all of its files or, if anything fails, none. Returns their paths in the folder.
 * Throws `conflict` when the folder exists, `unavailable` when the disk refuses.
 */
export function writeNewPaper(contentDir: string, paper: NewPaper): string[] {
  const folder = join(contentDir, paper.slug);
  if (existsSync(folder)) throw exists(folder);
  const files = paperSkeleton(paper);
  let aside: string | null = null;
  try {
    makeFolder(contentDir);
    // Hidden names are never filed.
    aside = mkdtempSync(join(contentDir, `.new-${paper.slug}-`));
    const made = join(aside, paper.slug);
    for (const [path, text] of files) {
      makeFolder(dirname(join(made, path)));
      writeFileSync(join(made, path), text);
      syncFile(join(made, path));
      syncFolder(dirname(join(made, path)));
    }
    // Fails when another process was faster: its folder is not empty.
    renameSync(made, folder);
    syncFolder(contentDir);
  } catch (error) {
    if (/^(?:ENOTEMPTY|EEXIST|ENOTDIR)$/.test(codeOf(error)) && existsSync(folder)) throw exists(folder);
    throw new Fault(
      'unavailable',
      `${folder} cannot be written (${messageOf(error)}); nothing was created: check the disk's space and the folder's permissions`,
    );
  } finally {
    if (aside !== null) rmSync(aside, { recursive: true, force: true });
  }
  return [...files.keys()];
}

function exists(folder: string): Fault {
  return new Fault('conflict', `${folder} exists already, and nothing in it was changed; choose another slug`);
}
