import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { Command } from 'commander';
import { pressPapers } from '../desk/jobs/press-run.ts';
import { giveHost, hostOfPaper, parseHost } from '../desk/papers/host.ts';
import { paperRoot } from '../desk/papers/paper.ts';
import { recordCommand } from '../desk/papers/record-command.ts';
import { type Removal, removePaper, restorePaper } from '../desk/papers/removal.ts';
import { requirePaper } from '../desk/papers/require-paper.ts';
import { publishAfterPress } from '../operate/publish/publish-run.ts';
import { isoTime } from '../proof/time.ts';
import { type AppContext, intakeOf } from '../server/context.ts';
import { CLI } from '../shared/command-line.ts';
import { Fault, messageOf } from '../shared/fault.ts';
import { plural } from '../shared/plural.ts';
import { isAnswering, withAnswers } from '../shared/terminal/ask.ts';
import { printError, printResult } from '../shared/terminal/output.ts';
import { DataCommand } from './frame.ts';

export function command(): Command {
  return new Command('paper')
    .description('what only the operator may change about a paper')
    .addCommand(list())
    .addCommand(removal())
    .addCommand(restoral())
    .addCommand(host());
}

function host(): Command {
  return new DataCommand('host')
    .description('list the hosts of papers, or give a paper a host')
    .argument('[slug]', 'the paper; by default all papers')
    .argument('[host]', 'a name such as news.example, with its port unless that is 80 or 443')
    .option('--remove', 'remove the host; the paper’s url and its links stay as they are')
    .option('--json', 'print the hosts as [{paper, host, how, at}]')
    .onData((app, slug: string | undefined, name: string | undefined, { remove = false, json }: HostOptions) => {
      if (slug !== undefined) requirePaper(app, slug);
      if (remove && name === undefined) {
        throw new Fault('invalid_request', '--remove needs a paper and a host; name both');
      }
      const done = slug === undefined || name === undefined ? null : changed(app, slug, name, remove);
      const { hosts } = app.store.desk;
      const rows = (slug === undefined ? hosts.all() : hosts.of(slug)).map(({ paper, host: at, how, at: since }) => ({
        ...{ paper, host: at, how },
        at: isoTime(since),
      }));
      const lines = rows.map((row) => `${row.paper}  ${row.host}  ${HOW[row.how]} ${row.at}`);
      printResult(json, rows, done === null ? (lines.length === 0 ? ['no hosts'] : lines) : [done]);
    });
}

type HostOptions = { remove?: boolean; json?: boolean };

const HOW = { given: 'given', file: 'proven by a file', txt: 'proven by a TXT record' } as const;

/** Gives a host to a paper or removes it. Returns a line that describes the outcome. */
function changed(app: AppContext, slug: string, name: string, isRemoved: boolean): string {
  const { store, settings } = app;
  if (isRemoved) {
    // A host that the current rules reject can still be removed.
    const given = store.desk.hosts.of(slug).find(({ host: had }) => had === name) ?? {
      host: parseHost(name, settings),
    };
    const isGone = store.database.transact(() => {
      if (!store.desk.hosts.remove(slug, given.host)) return false;
      recordCommand(app, slug, { action: 'host.removed', subject: { kind: 'host', id: given.host } });
      return true;
    });
    if (isGone) return `${slug} is no longer served at ${given.host}`;
    throw new Fault(
      'not_found',
      `${slug} does not have the host ${given.host}; \`${CLI} paper host ${slug}\` lists its hosts`,
    );
  }
  const at = parseHost(name, settings);
  store.database.transact(() => {
    if (giveHost(intakeOf(app), slug, at))
      recordCommand(app, slug, { action: 'host.given', subject: { kind: 'host', id: at } });
  });
  const isUsed = hostOfPaper(store.desk.paper(slug) ?? {}) === at;
  return isUsed
    ? `${slug} is served at ${at}`
    : `${slug} may be served at ${at}; set its url to an address there, in paper.yaml or with PUT /api/v1/config`;
}

function list(): Command {
  return new DataCommand('list')
    .description('list the papers: address, name, and how many pieces they have')
    .option('--json', 'print [{slug, name, url, public, on_air, scheduled, drafts, withdrawn, removed_at}]')
    .onData(({ store, settings }, { json }: { json?: boolean }) => {
      const papers = store.desk.paperSlugs().flatMap((slug) => store.desk.paper(slug) ?? []);
      const removed = store.desk.removedPapers();
      const rows = [...papers.map((paper) => ({ ...paper, removed_at: null })), ...removed].map((paper) => {
        const { on_air, scheduled, draft: drafts, withdrawn } = store.desk.pieces.stateCounts(paper.slug);
        return {
          slug: paper.slug,
          name: paper.nameplate,
          url: paperRoot(paper, settings.origin),
          public: paper.paper_public,
          ...{ on_air, scheduled, drafts, withdrawn },
          removed_at: paper.removed_at === null ? null : isoTime(paper.removed_at),
        };
      });
      const width = Math.max(0, ...rows.map(({ slug }) => slug.length));
      const lines = rows.map(({ slug, name, url, removed_at, ...row }) => {
        const scheduled = row.scheduled > 0 ? `${row.scheduled} scheduled, ` : '';
        const pieces = `${row.on_air} on air, ${scheduled}${plural(row.drafts, 'draft')}`;
        const state = removed_at === null ? pieces : `removed ${removed_at.slice(0, 10)}`;
        return `${slug.padEnd(width)}  ${name}  ${url}/  ${row.public ? 'public' : 'private'}  ${state}`;
      });
      const none = `no papers; \`${CLI} new SLUG\` creates one`;
      printResult(json, rows, lines.length === 0 ? [none] : lines);
    });
}

function removal(): Command {
  return new DataCommand('remove')
    .description('remove a paper: its files go, its addresses answer 410, its readers’ addresses are erased')
    .argument('<slug>', 'the paper')
    .option('--yes', 'do not ask for confirmation')
    .option('--json', 'print {slug, withdrawn, receipts, readers, keys, files}')
    .onData(async (app, slug: string, { yes, json }: { yes?: boolean; json?: boolean }) => {
      requirePaper(app, slug);
      if (!yes) await confirm(app, slug);
      const { done, files } = await remove(app, slug);
      const folder = join(app.settings.contentDir, slug);
      const lines = removalLines(slug, done, files);
      const cure = `delete it, or bring the paper back with \`paper restore ${slug}\``;
      if (existsSync(folder)) lines.push(`${folder} stays, and is not filed again; ${cure}`);
      printResult(json, { slug, ...done, files }, lines);
    });
}

function restoral(): Command {
  return new DataCommand('restore')
    .description('bring a removed paper back; its pieces stay withdrawn until they are put on air again')
    .argument('<slug>', 'the paper')
    .onData(async (app, slug: string) => {
      const { nameplate } = app.store.database.transact(() => {
        const paper = restorePaper(intakeOf(app), slug);
        recordCommand(app, slug, { action: 'paper.restored' });
        return paper;
      });
      const { withdrawn } = app.store.desk.pieces.stateCounts(slug);
      await pressed(app, slug);
      printResult(false, null, [
        `${nameplate} (${slug}) is back, with ${plural(withdrawn, 'piece')} withdrawn`,
        `put a piece on air with \`${CLI} air PIECE --paper ${slug}\`, and make new keys: the old ones stay revoked`,
      ]);
    });
}

/** Removes a paper and its tree. `files` is null when the tree is left to the next press. */
export async function remove(app: AppContext, slug: string): Promise<{ done: Removal; files: number | null }> {
  app.signer.open();
  const done = app.store.database.transact(() => {
    const removal = removePaper(intakeOf(app), slug, 'cli');
    recordCommand(app, slug, { action: 'paper.removed', detail: { ...removal } });
    return removal;
  });
  return { done, files: await pressed(app, slug) };
}

/** Presses the removal, which is in the ledger already: if the disk rejects writes, the next press completes it. */
async function pressed(app: AppContext, slug: string): Promise<number | null> {
  try {
    const removed = (await pressPapers(app, { paper: slug })).get(slug)?.removed ?? 0;
    await publishAfterPress(app);
    return removed;
  } catch (error) {
    printError(`${slug}: ${messageOf(error)}; the next press or start finishes it`);
    return null;
  }
}

/** The outcome of a removal, in lines for a terminal. */
export function removalLines(
  slug: string,
  { withdrawn, receipts, readers, keys }: Removal,
  files: number | null,
): string[] {
  return [
    `removed ${slug}: ${plural(withdrawn, 'piece')} withdrawn, ${files === null ? 'its files wait for the next press' : `${plural(files, 'file')} removed`}, addresses of ${plural(readers, 'reader')} erased, ${plural(keys, 'key')} revoked`,
    `its addresses answer 410; ${plural(receipts, 'receipt')} of it ${receipts === 1 ? 'stays' : 'stay'} in the ledger and in the log`,
  ];
}

async function confirm(app: AppContext, slug: string): Promise<void> {
  const { on_air } = app.store.desk.pieces.stateCounts(slug);
  if (!isAnswering()) {
    throw new Fault('invalid_request', `this takes ${slug} off the air (${plural(on_air, 'piece')}); add --yes`);
  }
  const question = `This takes ${slug} off the air, with ${plural(on_air, 'piece')}. Type its name to continue: `;
  const answer = await withAnswers((ask) => ask(question));
  if (answer !== slug) throw new Fault('invalid_request', `${slug} was not removed`);
}
