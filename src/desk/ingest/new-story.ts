import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { CLI } from '../../shared/command-line.ts';
import { codeOf, Fault, messageOf } from '../../shared/fault.ts';
import { makeFolder, syncFile, syncFolder } from '../../shared/files/durable-file.ts';
import { SAMPLE_SENTENCES } from '../door/door.ts';
import { PaperBody } from '../papers/paper.ts';
import { freeSlug } from '../papers/slug.ts';
import { paperFolders } from './content-folder.ts';
import { readSource } from './source-file.ts';

/** The arguments for a new story file. */
interface AskedStory {
  headline: string;
  paper?: string;
  section?: string;
  persona?: string;
}

/**
 * Writes the file of a new piece, a draft, into a paper's folder, under an unused name derived from the headline.
 * Returns its path. Throws `not_found` or `invalid_request`, naming the option, and `unavailable` for disk errors.
 */
export function newStory(contentDir: string, { headline, paper, section, persona }: AskedStory): string {
  if (headline.trim() === '') throw new Fault('invalid_request', 'the headline is empty; write one in quotation marks');
  const folder = folderOf(contentDir, paper);
  const record = PaperBody.safeParse(readSource(join(folder, 'paper.yaml'), 'paper.yaml', 'yaml').data);
  if (!record.success)
    throw new Fault(
      'invalid_request',
      `${join(folder, 'paper.yaml')} has errors; run \`${CLI} file\`, which lists them`,
    );
  const { sections } = record.data;
  if (section !== undefined && !sections.includes(section)) {
    throw new Fault(
      'invalid_request',
      `--section ${section} is not a section of this paper; use one of ${sections.join(', ')}`,
    );
  }
  const personas = filesIn(join(folder, 'masthead'), '.yaml');
  const byline = persona ?? personas[0];
  if (byline === undefined || !personas.includes(byline)) {
    const cure =
      personas.length === 0 ? `write ${join(folder, 'masthead', 'NAME.yaml')}` : `use ${personas.join(', ')}`;
    throw new Fault('invalid_request', `--persona ${byline ?? ''} is not on the masthead; ${cure}`);
  }
  const stories = join(folder, 'stories');
  try {
    makeFolder(stories);
    for (;;) {
      const file = join(stories, `${freeSlug(headline, (slug) => existsSync(join(stories, `${slug}.md`)))}.md`);
      try {
        // Fails when another process has just written this file.
        writeFileSync(file, storyText({ headline: headline.trim(), section: section ?? sections[0] ?? '', byline }), {
          flag: 'wx',
        });
      } catch (error) {
        if (codeOf(error) === 'EEXIST') continue;
        throw error;
      }
      syncFile(file);
      syncFolder(stories);
      return file;
    }
  } catch (error) {
    throw new Fault(
      'unavailable',
      `${stories} cannot be written (${messageOf(error)}); check the disk's space and the folder's permissions`,
    );
  }
}

function folderOf(contentDir: string, paper: string | undefined): string {
  const papers = paperFolders(contentDir).filter((folder) => existsSync(join(folder, 'paper.yaml')));
  const names = papers.map((folder) => basename(folder));
  const found = paper === undefined ? papers.length === 1 && papers[0] : papers[names.indexOf(paper)];
  if (found) return found;
  if (names.length === 0) throw new Fault('not_found', `${contentDir} has no paper; make one with ${CLI} new SLUG`);
  const why = paper === undefined ? 'there are several papers' : `${contentDir} has no paper ${paper}`;
  throw new Fault(
    paper === undefined ? 'invalid_request' : 'not_found',
    `${why}; name one with --paper: ${names.join(', ')}`,
  );
}

const filesIn = (folder: string, ending: string): string[] =>
  existsSync(folder)
    ? readdirSync(folder)
        .filter((name) => name.endsWith(ending) && !name.startsWith('.'))
        .map((name) => name.slice(0, -ending.length))
        .sort()
    : [];

function storyText({ headline, section, byline }: { headline: string; section: string; byline: string }): string {
  return `---
headline: ${JSON.stringify(headline)}
dek: "⟦the piece in one sentence⟧"
category: ${JSON.stringify(section)}
byline: ${byline}
# false keeps the piece a draft. Remove the line to put it on air when it is filed, or write a time to schedule it.
air: false
cited_facts:
  - statement: "⟦what the first source says⟧"
    source: "⟦who publishes it⟧"
    instrument: "⟦its address, or its title⟧"
  - statement: "⟦what the second says⟧"
    source: "⟦another publisher⟧"
    instrument: "⟦its address, or its title⟧"
---

${SAMPLE_SENTENCES[0]}[^1] ${SAMPLE_SENTENCES[1]}[^2]
`;
}
