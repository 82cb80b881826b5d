import { existsSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fill } from '../../phrases/fill.ts';
import { CLI } from '../../shared/command-line.ts';
import { codeOf, Fault, messageOf } from '../../shared/fault.ts';
import { makeFolder, syncFile, syncFolder } from '../../shared/files/durable-file.ts';
import { type Problem, shapeProblems } from '../../shared/shape.ts';
import { shownProblems } from '../../shared/shown-text.ts';
import { PersonaBody } from '../papers/masthead.ts';
import { isPaperSlug, PaperBody } from '../papers/paper.ts';
import { latinWords } from '../papers/slug.ts';
import { quoted, samplePieces, sampleTexts } from './sample-pieces.ts';

/** The arguments of the command, as typed. */
export interface AskedPaper {
  slug: string;
  name: string;
  language: string;
  url: string | undefined;
  sections: string[];
  /** `Name, Title`. */
  persona: string;
}

/** The requested paper, or all problems with the request, each with the name of its option. */
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

/** Writes all files or none. Returns their paths. Throws `conflict` if the folder exists, `unavailable` by disk. */
export function writeNewPaper(contentDir: string, paper: NewPaper): string[] {
  const folder = join(contentDir, paper.slug);
  if (existsSync(folder)) throw exists(folder);
  const files = paperSkeleton(paper);
  let aside: string | null = null;
  try {
    makeFolder(contentDir);
    // Hidden folders are never filed.
    aside = mkdtempSync(join(contentDir, `.new-${paper.slug}-`));
    const made = join(aside, paper.slug);
    for (const [path, text] of files) {
      makeFolder(dirname(join(made, path)));
      writeFileSync(join(made, path), text);
      syncFile(join(made, path));
      syncFolder(dirname(join(made, path)));
    }
    // Fails when another process was faster, because its folder is not empty.
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

interface NewPaper extends Omit<AskedPaper, 'name' | 'persona'> {
  nameplate: string;
  persona: { name: string; title: string };
}

export function personaSlug(name: string): string {
  return latinWords(name).join('-') || 'editor';
}

/** The files of a new paper, by path. The door accepts all except the imprint, which must be filled in first. */
export function paperSkeleton(paper: NewPaper): Map<string, string> {
  const persona = personaSlug(paper.persona.name);
  return new Map([
    ['paper.yaml', record(paper)],
    [`masthead/${persona}.yaml`, masthead(paper)],
    ...samplePieces(paper, persona),
    ['pages/about.md', about(paper)],
    ['pages/imprint.md', imprint(paper)],
  ]);
}

function record({ nameplate, language, url, sections }: NewPaper): string {
  return `# The record of this paper. Only nameplate and sections are required; lines that begin with # are examples.
# After a change: ${CLI} file

# The name at the head of every page, up to 80 characters.
nameplate: ${quoted(nameplate)}

# A line under the nameplate, and what the paper is about, for search engines and feeds.
motto: ""
description: ""

# The language of the paper's own words, and of pieces that name no other: a tag as in BCP 47, such as en or pt-BR.
language: ${language}

# In the order in which readers see them. A section with pieces cannot be left out.
sections:
${sections.map((section) => `  - ${quoted(section)}`).join('\n')}

# The paper's color, an angle on the color wheel from 0 to 359: 28 is red, 140 green, 250 blue.
hue: 28

# The paper's own address, if it has a domain. Without it the paper is a path of the server.
${url === undefined ? '# url: https://news.example' : `url: ${quoted(url)}`}

# A mail address, or an https address, for readers and for reports of vulnerabilities.
# contact: desk@news.example

# Who is responsible, in the footer of every page: a text, or a page of the paper. Some countries require it.
# Fill in pages/imprint.md first, then remove the #.
# imprint: pages/imprint.md

# What the paper looks like. The files are its own: put them into media/ first.
# An SVG in place of the name, or two: {light: media/logo.svg, dark: media/logo-night.svg}.
# logo: media/logo.svg
# An SVG or PNG for tabs and home screens; without it, icons are drawn in the paper's color.
# icon: media/icon.svg
# How its pages are laid out: broadsheet, magazine or wire.
# theme: broadsheet
# One of the pairs of typefaces: source-serif, lora, bitter or public-sans.
# typefaces: source-serif
# A stylesheet of your own; src/layouts/tokens.css lists the properties that it can set.
# style: media/style.css

# What stands on the front page below the top of the news, in this order.
# front: { blocks: [sections, cast, subscribe, blog, corrections, masthead] }

# true shows links that stand alone on a line as cards, once the server has read the pages that they lead to.
# link_cards: true
# end shows the subscribe form below every piece and on the front; the line ::subscribe shows it in one.
# subscribe_box: end

# One script that pages load from another host, to count visits.
# analytics: https://count.example/script.js

# false hides the paper from everybody without a key.
paper_public: true

# How many distinct publishers a piece must rest on, at least 2.
source_floor: 2

# A person approves what agents file before it goes on air: required, or some, as in {sections: [News], shown: true}.
# review: required

# The server reads the sources that pieces cite, and looks for their quotes; refuse keeps a piece without them off the air.
# sources: { read: true, quote_not_found: warn }

# What a piece is when it does not say: news or blog.
default_kind: news

# When daily and weekly mails go out.
# alerts: { hour: 7, time_zone: Europe/Berlin }

# How the desk works, in Markdown, for the page of standards.
# standards: |
#   Every fact of consequence carries a number, and every number leads to a document and its publisher.
`;
}

function masthead({ persona, sections }: NewPaper): string {
  return `# A persona: the byline of pieces, declared as AI everywhere. Its address is this file's name.
name: ${quoted(persona.name)}
title: ${quoted(persona.title)}
beat: ${quoted(sections.join(', '))}
bio: ""
# A picture of the paper, such as media/portraits/someone.jpg; without one, a portrait is drawn.
# avatar: media/portraits/someone.jpg
`;
}

function about({ nameplate, language, persona }: NewPaper): string {
  const { texts, isEnglish } = sampleTexts(language);
  return `---
title: ${quoted(texts.about)}
${isEnglish ? 'language: en\n' : ''}nav: footer
order: 1
---

${fill(texts.aboutText, { paper: inProse(nameplate), persona: inProse(persona.name) })}
`;
}

function imprint({ nameplate, language, url }: NewPaper): string {
  const { texts, isEnglish } = sampleTexts(language);
  return `---
title: ${quoted(texts.imprint)}
${isEnglish ? 'language: en\n' : ''}# Fill in what stands between ⟦ and ⟧: until then the page is refused. Then remove the # before imprint in paper.yaml.
nav: none
---

${fill(texts.imprintText, { paper: inProse(nameplate), url: url === undefined ? '' : ` (${url})` })}
`;
}

/** Escapes a name so that Markdown renders it verbatim. */
function inProse(text: string): string {
  return text.replace(/[\\`*_[\]<>&!#|~]/g, '\\$&');
}
