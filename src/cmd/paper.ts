import { Command } from 'commander';
import type { AppContext } from '../app/context.ts';
import { requirePaper } from '../app/context.ts';
import { giveHost } from '../app/hosts.ts';
import { hostOfPaper, readHost } from '../desk/host.ts';
import { Fault } from '../fault.ts';
import { isoTime } from '../time.ts';
import { say, withAppContext } from './run.ts';

export function command(): Command {
  return new Command('paper').description('what is the operator’s to give a paper').addCommand(host());
}

interface Options {
  remove?: boolean;
  json?: boolean;
}

function host(): Command {
  return new Command('host')
    .description('list the hosts at which papers may be served, or give a paper one')
    .argument('[slug]', 'the paper; all papers when left out')
    .argument('[host]', 'a name such as news.example, with its port where it is neither 80 nor 443')
    .option('--remove', 'take the host away; the paper’s url stays what its links start with')
    .option('--json', 'print [{paper, host, how, at}], as it is now')
    .action((slug: string | undefined, name: string | undefined, { remove, json }: Options) =>
      withAppContext((app) => {
        if (slug !== undefined) requirePaper(app, slug);
        if (remove && name === undefined) {
          throw new Fault('invalid_request', '--remove takes away one host; name the paper and the host');
        }
        const done = slug === undefined || name === undefined ? null : changed(app, slug, name, remove ?? false);
        const { hosts } = app.store;
        const rows = (slug === undefined ? hosts.all() : hosts.of(slug)).map(({ paper, host: at, how, at: since }) => ({
          ...{ paper, host: at, how },
          at: isoTime(since),
        }));
        const lines = rows.map((row) => `${row.paper}  ${row.host}  ${HOW[row.how]} ${row.at}`);
        say(json, rows, done === null ? (lines.length === 0 ? ['no hosts'] : lines) : [done]);
      }),
    );
}

const HOW = { given: 'given', file: 'proven by a file', txt: 'proven by a TXT record' } as const;

/** Gives a host or takes it away, and says what came of it. */
function changed(app: AppContext, slug: string, name: string, isRemoved: boolean): string {
  const { store, settings } = app;
  if (isRemoved) {
    // What a later rule would not give may still be taken away.
    const given = store.hosts.of(slug).find(({ host: had }) => had === name) ?? { host: readHost(name, settings) };
    if (store.hosts.remove(slug, given.host)) return `${slug} is no longer served at ${given.host}`;
    throw new Fault('not_found', `${slug} does not have the host ${given.host}; \`paper host ${slug}\` lists its own`);
  }
  const at = readHost(name, settings);
  giveHost(app, slug, at);
  const isUsed = hostOfPaper(store.paper(slug) ?? {}) === at;
  return isUsed
    ? `${slug} is served at ${at}`
    : `${slug} may be served at ${at}; set its url to an address there, in paper.yaml or by PUT /api/v1/config`;
}
