import { Command } from 'commander';
import { withAppContext, withExistingData } from '../app/context.ts';
import { listPaperKeys, makePaperKey, paperKeyLog, revokePaperKey } from '../app/paper-keys.ts';
import { pressThenPrint } from '../app/press-progress.ts';
import { rotateKey } from '../app/rotate-key.ts';
import { createServiceKey, listServiceKeys, revokeServiceKey, serviceKeyLog } from '../app/service-keys.ts';
import { readSettings } from '../env.ts';
import { Fault } from '../fault.ts';
import { endOf, lifeOf } from '../terminal/key-lines.ts';
import { printResult } from '../terminal/output.ts';

export function command(): Command {
  return new Command('key')
    .description('access keys of a paper or of the domain records, and the signing key')
    .addCommand(create())
    .addCommand(list())
    .addCommand(log())
    .addCommand(revoke())
    .addCommand(rotate());
}

interface Owner {
  paper?: string;
  service?: string;
}

/** The options that select whose keys a command handles: a paper's, or those of the domain records. */
function owned(name: string): Command {
  return new Command(name)
    .option('--paper <slug>', 'the paper')
    .option('--service <name>', '“records”: keys of the domain records');
}

/** The paper, or null for the domain records. Throws `invalid_request`. */
function paperOf({ paper, service }: Owner): string | null {
  if ((paper === undefined) === (service === undefined)) {
    throw new Fault('invalid_request', 'say whose key it is: either --paper SLUG or --service records');
  }
  if (service !== undefined && service !== 'records') {
    throw new Fault(
      'invalid_request',
      `--service: ${JSON.stringify(service)}: must be records; keys of a paper take --paper`,
      { field: 'service' },
    );
  }
  return paper ?? null;
}

function create(): Command {
  return owned('create')
    .description('make an access key; it is shown only once')
    .requiredOption('--level <level>', 'read, admin or agent; of the records: account, service, scanner or operator')
    .requiredOption('--name <name>', 'whose key it is')
    .option('--persona <slug>', 'the one persona that an agent key of a paper signs as')
    .option('--email <address>', 'the account that an account key of the records is metered on; by default a new one')
    .option('--expires-at <time>', 'when it expires, as in 2026-12-31T00:00:00Z; by default never')
    .option('--json', 'print {id, key, level}')
    .action((options: Owner & NewKey) =>
      // A key of the records may be the first thing that an installation has; a paper's key needs the paper.
      (options.paper === undefined ? withAppContext : withExistingData)(readSettings(), (app) => {
        const { level, name, persona, email, expiresAt, json } = options;
        const paper = paperOf(options);
        if (paper === null) {
          const { key, made, email: account } = createServiceKey(app, { level, name, email, expiresAt });
          const metered = account === null ? '' : `, metered on the account of ${account}`;
          return printResult(
            json,
            { id: made.id, key, level: made.level, ...(account === null ? {} : { email: account }) },
            [
              key,
              `${made.level} key ${made.id} of the domain records${metered}${endOf(made.expires_at)}; it is not shown again`,
            ],
          );
        }
        const { key, made } = makePaperKey(app, paper, { level, name, persona, expires_at: expiresAt });
        printResult(json, { id: made.id, key, level: made.level }, [
          key,
          `${made.level} key ${made.id} of ${paper}${endOf(made.expires_at)}; it is not shown again`,
        ]);
      }),
    );
}

interface NewKey {
  level: string;
  name: string;
  persona?: string;
  email?: string;
  expiresAt?: string;
  json?: boolean;
}

function list(): Command {
  return owned('list')
    .description('list the access keys of a paper or of the domain records')
    .option('--email <address>', 'with --service: the keys of this account; by default those of no account')
    .option('--json', 'print the keys as JSON')
    .action(({ email, json, ...owner }: Owner & { email?: string; json?: boolean }) =>
      withExistingData(readSettings(), (app) => {
        const paper = paperOf(owner);
        const keys = paper === null ? listServiceKeys(app, email) : listPaperKeys(app, paper);
        const lines = keys.map((key) => {
          const seat = 'seat' in key && key.seat !== null ? `  seat of ${key.seat}` : '';
          return `${key.id}  ${key.level.padEnd(paper === null ? 8 : 5)}  ${key.name}${seat}${lifeOf(key)}`;
        });
        printResult(json, keys, lines.length === 0 ? ['no keys'] : lines);
      }),
    );
}

function log(): Command {
  return owned('log')
    .description('show who made an access key, the days it was used on, when it expired, and who revoked it')
    .argument('<id>', 'the id of the key')
    .option('--json', 'print the log as JSON')
    .action((id: string, { json, ...owner }: Owner & { json?: boolean }) =>
      withExistingData(readSettings(), (app) => {
        const paper = paperOf(owner);
        const rows = paper === null ? serviceKeyLog(app, id) : paperKeyLog(app, paper, id);
        const lines = rows.map(
          ({ at, event, by }) => `${at.padEnd(24)}  ${event}${by === undefined ? '' : ` by ${by}`}`,
        );
        printResult(json, rows, lines);
      }),
    );
}

function revoke(): Command {
  return owned('revoke')
    .description('revoke an access key')
    .argument('<id>', 'the id of the key')
    .action((id: string, owner: Owner) =>
      withExistingData(readSettings(), (app) => {
        const paper = paperOf(owner);
        if (paper === null) revokeServiceKey(app, id);
        else revokePaperKey(app, paper, id);
        printResult(false, null, [`revoked ${id}`]);
      }),
    );
}

function rotate(): Command {
  return new Command('rotate')
    .description('replace the signing key; the old key is listed as retired, and its receipts stay valid')
    .option('--json', 'print {kid, retired}')
    .action(({ json }: { json?: boolean }) =>
      withExistingData(readSettings(), async (app) => {
        const kid = rotateKey(app);
        const retired = app.store.signingKeys().flatMap((key) => (key.retired_at === null ? [] : [key.kid]));
        await pressThenPrint(app, {}, (pressed) =>
          printResult(json, { kid, retired }, [`the signing key is now ${kid}; ${retired.length} retired`, ...pressed]),
        );
      }),
    );
}
