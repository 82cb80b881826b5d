import { copyFileSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { type Answers, askOptions, isAnswering } from './ask.ts';
import { requireFree, requireSlug, writeFiles } from './folder.ts';
import { startHistory } from './git.ts';
import { requireInstalled, runBroadsheet } from './installed.ts';
import { installPackages, requirePublished, requireTarball } from './npm.ts';
import { HELP, newArguments, type Options, omitted, readOptions } from './options.ts';
import { packageJson, projectFiles } from './project-files.ts';
import { Refusal } from './refusal.ts';
import { TARGETS } from './targets.ts';

/** The version of Broadsheet that a project gets: both packages are released together. */
const { version: VERSION } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
  version: string;
};

/** Makes a project. Returns the exit code: 1 when nothing was created, which one line on standard error explains. */
export async function main(args: string[]): Promise<number> {
  try {
    const options = readOptions(args);
    if (options.help) process.stdout.write(HELP);
    else await create(options);
    return 0;
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    process.stderr.write(`create-broadsheet: ${error.message}\n`);
    return 1;
  }
}

async function create(options: Options): Promise<void> {
  const isAsking = isAnswering() && !options.yes;
  const answers = await askOptions(options, isAsking);
  const folder = resolve(answers.folder);
  const slug = basename(folder);
  requireSlug(slug);
  requireFree(folder);
  if (options.tarball === undefined) requirePublished(VERSION);
  else requireTarball(options.tarball);

  // Everything is created in a folder beside the target, so that the target appears complete or not at all.
  const aside = makeAside(folder);
  const remove = () => rmSync(aside, { recursive: true, force: true });
  const stop = () => {
    remove();
    process.exit(130);
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, stop);
  try {
    make(aside, slug, options, answers, isAsking);
    requireFree(folder);
    renameSync(aside, folder);
  } finally {
    remove();
  }
  say(`\n${answers.folder} is ready: cd ${answers.folder}, then npm run dev shows the paper while you write`);
  const { title, secrets } = TARGETS[answers.publish];
  say(`to publish to ${title}, follow README.md; the workflow needs ${Object.keys(secrets).join(', ')}`);
}

function make(aside: string, slug: string, options: Options, { publish }: Answers, isAsking: boolean): void {
  const { tarball } = options;
  // The tarball stays in the project, so that `npm ci` finds it on any machine.
  if (tarball !== undefined) copyFileSync(tarball, join(aside, basename(tarball)));
  const wanted = tarball === undefined ? VERSION : `file:${basename(tarball)}`;
  writeFiles(aside, new Map([['package.json', packageJson(slug, wanted)]]));
  say(`installing broadsheet ${wanted} …`);
  installPackages(aside);
  requireInstalled(aside, VERSION);
  const asked = [slug, ...newArguments(options), ...(isAsking ? [] : ['--yes'])];
  runBroadsheet(aside, ['new', ...asked], isAsking);
  if (!isAsking && omitted(options).length > 0) {
    say(`${options.yes ? '--yes' : 'no terminal'}: used the defaults for ${omitted(options).join(', ')}`);
  }
  const address = addressIn(join(aside, 'content', slug, 'paper.yaml')) ?? `https://${slug}.example`;
  writeFiles(aside, projectFiles({ slug, version: VERSION, target: publish, address }));
  const history = startHistory(aside);
  if (history !== null) say(history);
}

/** The paper's own address, which `broadsheet new` writes as a JSON string; null when it has none. */
function addressIn(record: string): string | null {
  const [, quoted] = /^url: (".*")$/m.exec(readFileSync(record, 'utf8')) ?? [];
  return quoted === undefined ? null : (JSON.parse(quoted) as string);
}

function makeAside(folder: string): string {
  try {
    return mkdtempSync(join(dirname(folder), `.create-${basename(folder)}-`));
  } catch (error) {
    throw new Refusal(
      `cannot write to ${dirname(folder)} (${(error as Error).message}); create the folder, or change its permissions`,
    );
  }
}

const say = (text: string): void => void process.stdout.write(`${text}\n`);
