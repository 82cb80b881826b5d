import { randomBytes } from 'node:crypto';
import { Command } from 'commander';
import type { AppContext } from '../app/context.ts';
import { newId, requirePaper, signingKeyFile, signingName } from '../app/context.ts';
import { KeyBody, keyRow, makeKey } from '../desk/keys.ts';
import { Fault } from '../fault.ts';
import { rotateSigningKey } from '../files/signing-key.ts';
import { keyExpiry, keyLog } from '../key-life.ts';
import { shapeProblems } from '../ledger/shape.ts';
import { endOf, lifeOf, sayLog } from './key-life.ts';
import { pressLines, pressShowing } from './press.ts';
import { say, withAppContext } from './run.ts';
import { createServiceKey, listServiceKeys, logServiceKey, revokeServiceKey } from './service-key.ts';

export function command(): Command {
  return new Command('key')
    .description('access keys of a paper or of the domain records, and the signing key of the door')
    .addCommand(create())
    .addCommand(list())
    .addCommand(log())
    .addCommand(revoke())
    .addCommand(rotate());
}

function create(): Command {
  return new Command('create')
    .description('make an access key; it is shown this once')
    .option('--paper <slug>', 'the one paper that it opens')
    .option('--service <name>', 'records: a key of the domain records, and of no paper')
    .requiredOption('--level <level>', 'read, admin or agent; of the records: account, service, scanner or operator')
    .requiredOption('--name <name>', 'whose it is')
    .option('--persona <slug>', 'the one persona that an agent’s key of a paper signs as')
    .option('--email <address>', 'the account that an account’s key of the records is metered on; else one of its own')
    .option('--expires-at <time>', 'from when on it opens nothing, as in 2026-12-31T00:00:00Z; it lasts without one')
    .option('--json', 'print {id, key, level}')
    .action((options: Owner & { level: string; name: string; persona?: string; expiresAt?: string; json?: boolean }) =>
      withAppContext((app) => {
        const { level, name, persona, expiresAt: expires_at } = options;
        const owner = ownerOf(options);
        if ('service' in owner) return createServiceKey(app, { ...options, ...owner });
        const { key, made } = makeKeyOf(app, owner.paper, { level, name, persona, expires_at });
        say(options.json, { id: made.id, key, level: made.level }, [
          key,
          `${made.level} key ${made.id} of ${owner.paper}${endOf(made.expires_at)}; it is not shown again`,
        ]);
      }),
    );
}

interface Owner {
  paper?: string;
  service?: string;
  email?: string;
}

/** Whose keys are meant: a paper's, or a service's. Throws `invalid_request`. */
function ownerOf({ paper, service }: Owner): { paper: string } | { service: string } {
  if (paper !== undefined && service === undefined) return { paper };
  if (service !== undefined && paper === undefined) return { service };
  throw new Fault('invalid_request', 'say whose key it is: --paper SLUG or --service records, one of the two');
}

/**
 * Makes a key from the words of a command line; `options` are those of other
 * names. Throws `invalid_request` naming the option, `not_found`, `conflict`.
 */
export function makeKeyOf(
  app: AppContext,
  paper: string,
  words: Record<string, string | undefined>,
  options: Record<string, string> = {},
) {
  const { store, now } = app;
  requirePaper(app, paper);
  const body = KeyBody.safeParse(words);
  if (!body.success) {
    const [problem] = shapeProblems(body.error, words);
    const field = problem?.field ?? '';
    throw new Fault('invalid_request', `--${options[field] ?? field}: ${problem?.message}`, { field });
  }
  if (words.expires_at !== undefined) keyExpiry(words.expires_at, '--expires-at', now());
  const maker = { keys: store.keys, archive: store.archive(paper), now, newId, random: randomBytes, by: 'cli' };
  return store.transact(() => makeKey(maker, paper, body.data));
}

function list(): Command {
  return new Command('list')
    .description('list the access keys of a paper, or of the domain records')
    .option('--paper <slug>', 'the paper')
    .option('--service <name>', 'records: the keys of the domain records that are of no account')
    .option('--email <address>', 'those of this account')
    .option('--json', 'print them as JSON')
    .action((options: Owner & { json?: boolean }) =>
      withAppContext((app) => {
        const owner = ownerOf(options);
        if ('service' in owner) return listServiceKeys(app, { ...options, ...owner });
        requirePaper(app, owner.paper);
        const { keys: table } = app.store;
        const keys = table.list(owner.paper).map((key) => keyRow(key, table.hasExpired(key, app.now())));
        const lines = keys.map(
          ({ id, level, name, seat, ...life }) =>
            `${id}  ${level.padEnd(5)}  ${name}${seat === null ? '' : `  seat of ${seat}`}${lifeOf(life)}`,
        );
        say(options.json, keys, lines.length === 0 ? ['no keys'] : lines);
      }),
    );
}

function log(): Command {
  return new Command('log')
    .description('who made an access key, on which days it was used, when it ended, and who revoked it')
    .argument('<id>')
    .option('--paper <slug>', 'the paper')
    .option('--service <name>', 'records: a key of the domain records')
    .option('--json', 'print it as JSON')
    .action((id: string, options: Owner & { json?: boolean }) =>
      withAppContext((app) => {
        const owner = ownerOf(options);
        if ('service' in owner) return logServiceKey(app, id, { ...options, ...owner });
        const { keys } = app.store;
        const key = keys.byId(id);
        if (key === null || key.paper !== owner.paper) {
          throw new Fault(
            'not_found',
            `${owner.paper} has no key ${JSON.stringify(id)}; \`npm run -s broadsheet -- key list\` shows its keys`,
          );
        }
        sayLog(options.json, keyLog(key, keys.daysOf(id), keys.hasExpired(key, app.now())));
      }),
    );
}

function revoke(): Command {
  return new Command('revoke')
    .description('revoke an access key')
    .argument('<id>')
    .option('--paper <slug>', 'the paper')
    .option('--service <name>', 'records: a key of the domain records')
    .action((id: string, options: Owner) =>
      withAppContext((app) => {
        const owner = ownerOf(options);
        if ('service' in owner) return revokeServiceKey(app, id, owner);
        if (!app.store.keys.revoke(owner.paper, id, app.now(), 'cli')) {
          throw new Fault(
            'not_found',
            `${owner.paper} has no key ${JSON.stringify(id)} in force; \`npm run -s broadsheet -- key list\` shows its keys`,
          );
        }
        say(false, null, [`revoked ${id}`]);
      }),
    );
}

function rotate(): Command {
  return new Command('rotate')
    .description("replace the door's signing key; the old one stays listed as retired, and its receipts stay valid")
    .option('--json', 'print {kid, retired}')
    .action((options: { json?: boolean }) =>
      withAppContext(async (app) => {
        const { store, settings, now } = app;
        const door = rotateSigningKey(store, signingKeyFile(settings), signingName(settings), now());
        const retired = store.doorKeys().filter((key) => key.retired_at !== null);
        const reports = await pressShowing(app, {});
        say(options.json, { kid: door.kid, retired: retired.map(({ kid }) => kid) }, [
          `the door signs with ${door.kid}; ${retired.length} retired`,
          ...pressLines(reports),
        ]);
      }),
    );
}
