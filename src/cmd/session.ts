import { Command } from 'commander';
import { endSessions, listSessions } from '../desk/console/operator.ts';
import { Fault } from '../shared/fault.ts';
import { plural } from '../shared/plural.ts';
import { printResult } from '../shared/terminal/output.ts';
import { DataCommand } from './frame.ts';

export function command(): Command {
  return new Command('session')
    .description('browsers that are signed in to a paper’s console')
    .addCommand(list())
    .addCommand(end());
}

function list(): Command {
  return new DataCommand('list')
    .description('list the sessions of a paper’s console, the newest first')
    .requiredOption('--paper <slug>', 'the paper')
    .option('--json', 'print the sessions as JSON')
    .onData((app, { paper, json }: { paper: string; json?: boolean }) => {
      const rows = listSessions(app, paper);
      const lines = rows.map(
        ({ id, seat, name, browser, network, made_at, seen_at }) =>
          `${id}  ${seat ?? name}  ${browser}, ${network}  since ${made_at}, last seen ${seen_at}`,
      );
      printResult(json, rows, lines.length === 0 ? ['nobody is signed in'] : lines);
    });
}

function end(): Command {
  return new DataCommand('end')
    .description('sign a browser out of a paper’s console, or all of them')
    .argument('[id]', 'the id of the session')
    .requiredOption('--paper <slug>', 'the paper')
    .option('--all', 'every session of the paper')
    .onData((app, id: string | undefined, { paper, all = false }: { paper: string; all?: boolean }) => {
      if ((id === undefined) !== all) throw new Fault('invalid_request', 'name a session, or give --all');
      const count = endSessions(app, paper, id ?? null);
      printResult(false, null, [`ended ${plural(count, 'session')} of ${paper}`]);
    });
}
