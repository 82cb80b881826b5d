import type { Command } from 'commander';
import * as z from 'zod';
import { ACTIONS, activityRow } from '../desk/activity.ts';
import { requirePaper } from '../desk/papers/require-paper.ts';
import { isOneOf } from '../proof/narrow.ts';
import { Fault } from '../shared/fault.ts';
import { printResult } from '../shared/terminal/output.ts';
import { DataCommand } from './frame.ts';

/** The most rows that are printed. */
const LIMIT_MAX = 10_000;

type Options = {
  paper: string;
  who?: string;
  action?: string;
  subject?: string;
  since?: string;
  refused?: boolean;
  limit: string;
  json?: boolean;
};

export function command(): Command {
  return new DataCommand('activity')
    .description('who changed what of a paper, when, and from where, the newest first')
    .requiredOption('--paper <slug>', 'the paper')
    .option('--who <id>', 'only what this key did, by its id; or “cli”, or “folder”')
    .option('--action <name>', 'only these, such as piece.withdrawn')
    .option('--subject <id>', 'only what was done to the piece, key, page … of this id')
    .option('--since <time>', 'only from this time on, as in 2026-11-20T06:30:00Z')
    .option('--refused', 'only what the filing door refused to agents')
    .option('--limit <n>', 'how many rows', '50')
    .option('--json', 'print the rows as JSON')
    .onData((app, { paper, who, action, subject, since, refused, limit, json }: Options) => {
      requirePaper(app, paper);
      if (action !== undefined && !isOneOf(ACTIONS, action)) {
        throw new Fault('invalid_request', `--action ${JSON.stringify(action)}: must be one of ${ACTIONS.join(', ')}`);
      }
      if (since !== undefined && !z.iso.datetime({ offset: true }).safeParse(since).success) {
        throw new Fault(
          'invalid_request',
          `--since ${JSON.stringify(since)} is not a time; write it as 2026-11-20T06:30:00Z`,
        );
      }
      if (!/^[1-9]\d{0,4}$/.test(limit) || Number(limit) > LIMIT_MAX) {
        throw new Fault(
          'invalid_request',
          `--limit ${JSON.stringify(limit)}: must be a whole number from 1 to ${LIMIT_MAX}`,
        );
      }
      const from = since === undefined ? undefined : Date.parse(since);
      const query = { limit: Number(limit), who, action, subject, since: from, refused: refused || undefined };
      const rows = app.store.desk.activity.list(paper, query).map(activityRow);
      const lines = rows.map((row) => {
        const { id, slug, title } = row.subject ?? { id: null, slug: null, title: null };
        const about = slug ?? title ?? id ?? '';
        const where = row.from.network === null ? row.from.way : `${row.from.way} ${row.from.network}`;
        const outcome = row.outcome === 'refused' ? ' (refused)' : '';
        const rest = Object.keys(row.detail).length === 0 ? '' : `  ${JSON.stringify(row.detail)}`;
        return `${row.at}  ${row.who.name ?? row.who.id}  ${row.action}${outcome}  ${about}  ${where}${rest}`;
      });
      printResult(json, rows, lines.length === 0 ? ['no activity'] : lines);
    });
}
