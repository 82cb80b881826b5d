import { existsSync } from 'node:fs';
import { join, relative } from 'node:path';
import { Command } from 'commander';
import { type AskedPaper, newPaper, personaSlug, writeNewPaper } from '../desk/ingest/new-paper.ts';
import { newStory } from '../desk/ingest/new-story.ts';
import { sampleTexts } from '../desk/ingest/sample-pieces.ts';
import { isPaperSlug, PAPER_SLUG_MAX } from '../desk/papers/paper.ts';
import { latinWords } from '../desk/papers/slug.ts';
import { phrasesOf } from '../phrases/tables.ts';
import { withAppContext } from '../server/context.ts';
import { readSettings, type Settings } from '../server/env.ts';
import { CLI } from '../shared/command-line.ts';
import { Fault } from '../shared/fault.ts';
import { databaseFile } from '../shared/files/data-folder.ts';
import { type Ask, isAnswering, withAnswers } from '../shared/terminal/ask.ts';
import { printError, printResult } from '../shared/terminal/output.ts';
import { userFolder } from '../shared/terminal/project-folder.ts';

interface Options {
  name?: string;
  language?: string;
  url?: string;
  section?: string[];
  persona?: string;
  yes?: boolean;
}

export function command(): Command {
  return (
    new Command('new')
      // Options after `story` belong to `story`.
      .enablePositionalOptions()
      .description(
        'make a paper: a folder with its record, a persona, four sample drafts with pictures, an about page and an imprint',
      )
      .argument('<slug>', 'its address, as in the-quay')
      .option('--name <text>', 'its name, as in "The Quay"')
      .option('--language <tag>', 'its language, as in en or pt-BR')
      .option('--url <address>', 'its own address, as in https://quay.example; without one it is a path of the server')
      .option('--section <name>', 'a section; repeat it for several', (name, all: string[] = []) => [...all, name])
      .option('--persona <persona>', 'who writes, as in "Ada Holm, Editor"')
      .option('--yes', 'do not ask; use defaults for omitted options')
      .action(async (typed: string, options: Options) => {
        const slug = paperSlug(typed);
        const settings = readSettings();
        await requireNew(settings, slug);
        const given = withDefaults(slug, options);
        const asked = isAnswering() && !options.yes ? await withAnswers((ask) => askAll(ask, given, options)) : given;
        const { paper, problems } = newPaper(asked);
        if (problems.length > 0) {
          for (const { field, message } of problems) printError(`${field}: ${message}`);
          throw new Fault(
            'invalid_request',
            `${slug} was not created; correct ${problems.length === 1 ? 'this' : 'these'}`,
          );
        }
        const files = writeNewPaper(settings.contentDir, paper);
        const folder = relative(userFolder(), join(settings.contentDir, slug));
        printResult(false, null, [
          ...files.map((path) => `wrote ${join(folder, path)}`),
          ...(slug === typed ? [] : [`its address is ${slug}, made from ${JSON.stringify(typed)}`]),
          `${CLI} dev shows it at /${slug}/ while you write; ${CLI} file files it`,
          `the pieces in stories/ are samples and drafts, signed by ${personaSlug(paper.persona.name)}: edit one and remove its line air, or add your own`,
          'pages/imprint.md is refused until you fill in the text between ⟦ and ⟧; then name it in paper.yaml, or delete it if you do not need one',
        ]);
      })
      .addCommand(storyCommand())
  );
}

/** `broadsheet new story`. */
function storyCommand(): Command {
  return new Command('story')
    .description('start a piece: a file with the headline, a section, a byline and placeholders to fill in')
    .argument('<headline>', 'its headline, in quotation marks')
    .option('--paper <slug>', 'the paper; without it the only one of the content folder')
    .option('--section <name>', 'its section; by default the first of the paper')
    .option('--persona <slug>', 'who signs it; by default the first of the masthead')
    .action((headline: string, options: { paper?: string; section?: string; persona?: string }) => {
      const file = newStory(readSettings().contentDir, { headline, ...options });
      printResult(false, null, [
        `wrote ${relative(userFolder(), file)}`,
        'fill in the text between ⟦ and ⟧, and remove the line air when it may go on air',
      ]);
    });
}

/** The typed address if it is valid, else a slug made from it. Returns a text without Latin letters unchanged. */
function paperSlug(typed: string): string {
  if (isPaperSlug(typed)) return typed;
  const made = latinWords(typed).join('-').slice(0, PAPER_SLUG_MAX).replace(/-$/, '');
  return isPaperSlug(made) ? made : typed;
}

/** Throws `conflict` when the ledger has or had a paper of this address. Opens no database that does not exist. */
async function requireNew(settings: Settings, slug: string): Promise<void> {
  if (!existsSync(databaseFile(settings))) return;
  await withAppContext(settings, ({ store }) => {
    if (store.desk.hasPaper(slug)) {
      throw new Fault('conflict', `there is a paper ${slug} already, in the ledger; choose another slug`);
    }
    if (store.desk.removedPaper(slug) !== null) {
      throw new Fault(
        'conflict',
        `${slug} was a paper that was removed; bring it back with \`${CLI} paper restore ${slug}\`, or choose another slug`,
      );
    }
  });
}

function withDefaults(slug: string, { name, language, url, section, persona }: Options): AskedPaper {
  const words = slug.split('-').map((word) => word.slice(0, 1).toUpperCase() + word.slice(1));
  return {
    slug,
    name: name ?? words.join(' '),
    language: language ?? 'en',
    url: url === '' ? undefined : url,
    ...inLanguage(language ?? 'en', { section, persona }),
  };
}

/** The sections and the persona: those of the options, else the defaults in the paper's language. */
function inLanguage(language: string, { section, persona }: Pick<Options, 'section' | 'persona'>) {
  const { editor } = phrasesOf(language).byline;
  return {
    sections: section ?? sampleTexts(language).texts.sections,
    persona: persona ?? `Ada Holm, ${editor.slice(0, 1).toUpperCase()}${editor.slice(1)}`,
  };
}

/** Asks for everything that no option gives, with the default in brackets, until each answer is valid. */
async function askAll(ask: Ask, asked: AskedPaper, options: Options): Promise<AskedPaper> {
  const at = { ...asked };
  const sectionsIn = (answer: string) => ({ sections: answer.split(',').map((name) => name.trim()) });
  const questions: [
    given: unknown,
    field: string,
    text: string,
    shown: () => string,
    read: (answer: string) => object,
  ][] = [
    [options.name, '--name', 'Name', () => at.name, (name) => ({ name })],
    [
      options.language,
      '--language',
      'Language',
      () => at.language,
      (language) => ({ language, ...inLanguage(language, options) }),
    ],
    [options.url, '--url', 'Its own address, if any', () => 'none', (url) => ({ url })],
    [options.section, '--section', 'Sections, separated by commas', () => at.sections.join(', '), sectionsIn],
    [options.persona, '--persona', 'Who writes, and their title', () => at.persona, (persona) => ({ persona })],
  ];
  for (const [given, field, text, shown, read] of questions) {
    const byDefault = shown();
    for (let isRight = given !== undefined; !isRight; ) {
      const answer = await ask(`${text} [${byDefault}]: `);
      if (answer === null) throw new Fault('invalid_request', `${at.slug} was not created`);
      if (answer !== '') Object.assign(at, read(answer));
      const problem = newPaper(at).problems.find((found) => found.field === field);
      if (problem !== undefined) printError(problem.message);
      isRight = problem === undefined || answer === '';
    }
  }
  return at;
}
