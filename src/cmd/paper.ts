import { Command } from 'commander';
import type { AppContext } from '../app/context.ts';
import { requirePaper, withExistingData } from '../app/context.ts';
import { giveHost, hostOfPaper, parseHost } from '../desk/host.ts';
import { readSettings } from '../env.ts';
import { Fault } from '../fault.ts';
import { printResult } from '../terminal/output.ts';
import { isoTime } from '../time.ts';
import { listPapers } from './paper-list.ts';
import { removal, restoral } from './paper-remove.ts';

export function command(): Command {
  return new Command('paper')
    .description('what only the operator may change about a paper')
    .addCommand(listPapers())
    .addCommand(removal())
    .addCommand(restoral())
    .addCommand(host());
}

interface Options {
  remove?: boolean;
  json?: boolean;
}

function host(): Command {
  return new Command('host')
    .description('list the hosts of papers, or give a paper a host')
    .argument('[slug]', 'the paper; by default all papers')
    .argument('[host]', 'a name such as news.example, with its port unless that is 80 or 443')
    .option('--remove', 'remove the host; the paper’s url and its links stay as they are')
    .option('--json', 'print the hosts as [{paper, host, how, at}]')
    .action((slug: string | undefined, name: string | undefined, { remove, json }: Options) =>
      withExistingData(readSettings(), (app) => {
        if (slug !== undefined) requirePaper(app, slug);
        if (remove && name === undefined) {
          throw new Fault('invalid_request', '--remove needs a paper and a host; name both');
        }
        const done = slug === undefined || name === undefined ? null : changed(app, slug, name, remove ?? false);
        const { hosts } = app.store;
        const rows = (slug === undefined ? hosts.all() : hosts.of(slug)).map(({ paper, host: at, how, at: since }) => ({
          ...{ paper, host: at, how },
          at: isoTime(since),
        }));
        const lines = rows.map((row) => `${row.paper}  ${row.host}  ${HOW[row.how]} ${row.at}`);
        printResult(json, rows, done === null ? (lines.length === 0 ? ['no hosts'] : lines) : [done]);
      }),
    );
}

const HOW = { given: 'given', file: 'proven by a file', txt: 'proven by a TXT record' } as const;

/** Gives a host to a paper or removes it. Returns a line that describes the outcome. */
function changed(app: AppContext, slug: string, name: string, isRemoved: boolean): string {
  const { store, settings } = app;
  if (isRemoved) {
    // A host that the current rules reject can still be removed.
    const given = store.hosts.of(slug).find(({ host: had }) => had === name) ?? { host: parseHost(name, settings) };
    if (store.hosts.remove(slug, given.host)) return `${slug} is no longer served at ${given.host}`;
    throw new Fault(
      'not_found',
      `${slug} does not have the host ${given.host}; \`npm run -s broadsheet -- paper host ${slug}\` lists its hosts`,
    );
  }
  const at = parseHost(name, settings);
  giveHost(app, slug, at);
  const isUsed = hostOfPaper(store.paper(slug) ?? {}) === at;
  return isUsed
    ? `${slug} is served at ${at}`
    : `${slug} may be served at ${at}; set its url to an address there, in paper.yaml or with PUT /api/v1/config`;
}
