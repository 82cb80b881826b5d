import { Command } from 'commander';
import { factChange, pieceSubject } from '../desk/activity.ts';
import { citingPiece, factDocumentOf, factRecord } from '../desk/fact-rows.ts';
import { checkSources } from '../desk/jobs/evidence-job.ts';
import { paperRoot } from '../desk/papers/paper.ts';
import { recordCommand } from '../desk/papers/record-command.ts';
import { requirePaper } from '../desk/papers/require-paper.ts';
import { correctFact, FactOrder, requireFact } from '../desk/recording-facts.ts';
import { searchTerms } from '../desk/search.ts';
import { pressThenPrint } from '../operate/publish/press-progress.ts';
import { FACT_STATUSES, type FactStatus } from '../proof/fact-note.ts';
import { isoTime } from '../proof/time.ts';
import { type AppContext, deskOf } from '../server/context.ts';
import { Fault } from '../shared/fault.ts';
import { plural } from '../shared/plural.ts';
import { shapeProblems } from '../shared/shape.ts';
import { printResult } from '../shared/terminal/output.ts';
import { DataCommand } from './frame.ts';

/** The most facts, and the most pieces that cite a fact, in one list. */
const LISTED_MAX = 1_000;

export function command(): Command {
  return new Command('fact')
    .description('the fact record of a paper: what its pieces cite by a claim_key')
    .addCommand(list())
    .addCommand(show())
    .addCommand(correct())
    .addCommand(check());
}

function check(): Command {
  return new DataCommand('check')
    .description('read the sources of papers that have sources.read set again, and list the facts that need revision')
    .option('--paper <slug>', 'only this paper; by default all')
    .option('--json', 'print the facts as JSON')
    .onData(async (app, { paper, json }: { paper?: string; json?: boolean }) => {
      if (paper !== undefined) requirePaper(app, paper);
      const papers = papersThatRead(app, paper);
      const checked = await checkSources(app, papers);
      const rows = papers.flatMap((slug) =>
        app.store.desk
          .archive(slug)
          .factsToRevise(LISTED_MAX)
          .map(({ read_at, ...fact }) => ({ paper: slug, ...fact, read_at: isoTime(read_at) })),
      );
      const lines = rows.map(({ paper: of, subject, state, instrument, statement, reason, changes }) =>
        [
          `${of}/${subject}  ${state.replaceAll('_', ' ')}: ${statement} (${instrument})`,
          ...(state === 'unverified' && reason !== null ? [reason] : []),
          ...changes,
        ].join('\n  '),
      );
      if (rows.length > 0) process.exitCode = 1;
      await pressThenPrint(app, paper === undefined ? {} : { paper }, (pressed) =>
        printResult(json, { read: checked, to_revise: rows }, [
          `read ${plural(checked, 'source')}`,
          ...(rows.length === 0 ? ['no fact needs to be revised'] : lines),
          ...pressed,
        ]),
      );
    });
}

/** The papers whose sources are read. Throws `conflict` when there are none. */
function papersThatRead(app: AppContext, paper: string | undefined): string[] {
  const asked = paper === undefined ? app.store.desk.paperSlugs() : [paper];
  const papers = asked.filter((slug) => app.store.desk.paper(slug)?.sources?.read === true);
  if (papers.length > 0) return papers;
  const message = `${paper ?? 'no paper here'} ${paper === undefined ? 'reads its sources' : 'does not read its sources'}; set sources: {read: true} in paper.yaml`;
  throw new Fault('conflict', message);
}

interface Selection {
  paper: string;
  q?: string;
  source?: string;
  status?: string;
  json?: boolean;
}

function list(): Command {
  return new DataCommand('list')
    .description(`list facts, those recorded last first, at most ${LISTED_MAX}`)
    .requiredOption('--paper <slug>', 'the paper')
    .option('--q <words>', 'words of the statement, the publisher, the document or the key')
    .option('--source <name>', 'a publisher')
    .option('--status <status>', `one of ${FACT_STATUSES.join(', ')}`)
    .option('--json', 'print the facts as JSON')
    .onData((app, { paper, q, source, status, json }: Selection) => {
      requirePaper(app, paper);
      if (status !== undefined && !FACT_STATUSES.some((one) => one === status)) {
        const message = `--status ${JSON.stringify(status)} is not a status; give one of ${FACT_STATUSES.join(', ')}`;
        throw new Fault('invalid_request', message, { field: 'status' });
      }
      const archive = app.store.desk.archive(paper);
      const terms = q === undefined ? undefined : searchTerms(q);
      const query = { isCited: false, source, status: status as FactStatus | undefined, terms, limit: LISTED_MAX };
      const facts = terms?.length === 0 ? [] : archive.facts(query);
      const rows = facts.map(({ claim_key, cited }) => ({ ...factRecord(archive, claim_key), cited }));
      const lines = facts.map(
        ({ claim_key, version, status, statement, cited }) =>
          `${claim_key}  version ${version}, ${status}, cited by ${plural(cited, 'piece')} on air: ${statement}`,
      );
      printResult(json, rows, lines.length === 0 ? ['no facts'] : lines);
    });
}

function show(): Command {
  return new DataCommand('show')
    .description('show the versions of a fact and the pieces that cite it')
    .argument('<claim_key>', 'the fact')
    .requiredOption('--paper <slug>', 'the paper')
    .option('--json', 'print the fact as JSON')
    .onData((app, claim_key: string, { paper, json }: { paper: string; json?: boolean }) => {
      requirePaper(app, paper);
      const archive = app.store.desk.archive(paper);
      const { version } = requireFact(paper, claim_key, archive.fact(claim_key));
      const document = factDocumentOf(archive, claim_key);
      const cited_by = citingIn(app, paper, claim_key, version);
      printResult(json, { ...document, cited_by }, [
        ...document.versions.flatMap(({ version, status, signed_at, statement, source, instrument, quote, note }) => [
          `version ${version}, ${status}, ${signed_at}${note === null ? '' : `: ${note}`}`,
          `  ${statement}`,
          `  ${source}, ${instrument}${quote === null ? '' : `, “${quote}”`}`,
        ]),
        ...cited_by.map(
          ({ url, state, version }) => `cited by ${url} (${state.replace('_', ' ')}), version ${version}`,
        ),
      ]);
    });
}

function citingIn(app: AppContext, paper: string, claim_key: string, newest: number) {
  const archive = app.store.desk.archive(paper);
  const root = paperRoot(archive.paper(), app.settings.origin);
  return archive.citedBy(claim_key, 'desk', { limit: LISTED_MAX }).map((row) => citingPiece(row, root, newest));
}

interface Correction extends Partial<Record<'statement' | 'source' | 'instrument' | 'quote' | 'status', string>> {
  paper: string;
  /** The version that the caller read, so that a newer one is not overwritten. */
  from: string;
  note: string;
  json?: boolean;
}

function correct(): Command {
  return new DataCommand('correct')
    .description('make a new version of a fact: correct it, or retract it')
    .argument('<claim_key>', 'the fact')
    .requiredOption('--paper <slug>', 'the paper')
    .requiredOption('--from <version>', 'the version that the change is based on')
    .requiredOption('--note <text>', 'what was wrong, in one line; readers will see it')
    .option('--statement <text>', 'what holds')
    .option('--source <name>', 'the publisher')
    .option('--instrument <document>', 'the document that says it: an address or a name')
    .option('--quote <text>', 'the words of the document; an empty value removes them')
    .option('--status <status>', `one of ${FACT_STATUSES.join(', ')}; by default corrected`)
    .option('--json', 'print the outcome as JSON')
    .onData((app, claim_key: string, { paper, json, from, ...order }: Correction) => {
      requirePaper(app, paper);
      const typed = { ...order, version: /^\d{1,9}$/.test(from) ? Number(from) : from };
      const read = FactOrder.safeParse(typed);
      if (!read.success) {
        const [problem] = shapeProblems(read.error, typed);
        const option = problem?.field === 'version' ? 'from' : problem?.field;
        throw new Fault('invalid_request', `--${option}: ${problem?.message}`, { field: option });
      }
      const { fact, outdated, unscheduled } = app.store.database.transact(() => {
        const corrected = correctFact(deskOf(app), paper, claim_key, { ...read.data, by: 'cli' });
        recordCommand(app, paper, factChange(corrected.fact));
        for (const piece of corrected.unscheduled) {
          const detail = { reason: piece.reason };
          recordCommand(app, paper, { action: 'piece.withdrawn', subject: pieceSubject(piece), detail });
        }
        return corrected;
      });
      const archive = app.store.desk.archive(paper);
      const root = paperRoot(archive.paper(), app.settings.origin);
      const cited_by = outdated.map((row) => citingPiece(row, root, fact.version));
      const result = {
        fact: factRecord(archive, claim_key),
        cited_by,
        unscheduled: unscheduled.map(({ slug }) => slug),
      };
      return pressThenPrint(app, { paper }, (pressed) =>
        printResult(json, result, [
          `${claim_key} version ${fact.version}: ${fact.status}`,
          ...cited_by.map(
            ({ url, version }) => `${url} cites version ${version}; revise it if it rests on what was wrong`,
          ),
          ...result.unscheduled.map((slug) => `${slug} is off the schedule; revise what it says of ${claim_key}`),
          ...pressed,
        ]),
      );
    });
}
