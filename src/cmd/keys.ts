import { Command } from 'commander';
import { operatorLink } from '../desk/console/operator.ts';
import {
  listPaperKeys,
  makePaperKey,
  paperKeyLog,
  pausePaperKey,
  removeSeat,
  revokePaperKey,
} from '../desk/papers/paper-keys.ts';
import { pressThenPrint } from '../operate/publish/press-progress.ts';
import { isoTime } from '../proof/time.ts';
import { createServiceKey, listServiceKeys, revokeServiceKey, serviceKeyLog } from '../records/service-keys.ts';
import { withAppContext, withExistingData } from '../server/context.ts';
import { readSettings } from '../server/env.ts';
import { Fault } from '../shared/fault.ts';
import type { keyLifeRow } from '../shared/key-life.ts';
import { printResult } from '../shared/terminal/output.ts';
import { rotateKey } from '../signing/signing.ts';
import { DataCommand } from './frame.ts';

export function key(): Command {
  return new Command('key')
    .description('access keys of a paper or of the domain records, and the signing key')
    .addCommand(create())
    .addCommand(list())
    .addCommand(log())
    .addCommand(revoke())
    .addCommand(pause('pause', 'stop the writes of a paper’s access key; it still reads', true))
    .addCommand(pause('resume', 'let a paused access key write again', false))
    .addCommand(rotate());
}

type Owner = { paper?: string; service?: string };
type NewKey = { level: string; name: string; persona?: string; email?: string; expiresAt?: string; json?: boolean };

/** The options that select whose keys a command handles: a paper's, or those of the domain records. */
function owned(name: string): DataCommand {
  return new DataCommand(name)
    .option('--paper <slug>', 'the paper')
    .option('--service <name>', '“records”: keys of the domain records');
}

/** The paper, or null for the domain records. Throws `invalid_request`. */
function paperOf({ paper, service }: Owner): string | null {
  if ((paper === undefined) === (service === undefined)) {
    throw new Fault('invalid_request', 'say what the key is for: either --paper SLUG or --service records');
  }
  if (service !== undefined && service !== 'records') {
    const message = `--service: ${JSON.stringify(service)}: must be records; keys of a paper take --paper`;
    throw new Fault('invalid_request', message, { field: 'service' });
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
      // A key of the records may be created before there is any data; a paper's key needs the paper.
      (options.paper === undefined ? withAppContext : withExistingData)(readSettings(), (app) => {
        const { level, name, persona, email, expiresAt, json } = options;
        const paper = paperOf(options);
        if (paper === null) {
          const { key, made, email: account } = createServiceKey(app, { level, name, email, expiresAt });
          const metered = account === null ? '' : `, metered on the account of ${account}`;
          const shown = { id: made.id, key, level: made.level, ...(account === null ? {} : { email: account }) };
          return printResult(json, shown, [
            key,
            `${made.level} key ${made.id} of the domain records${metered}${endOf(made.expires_at)}; it is not shown again`,
          ]);
        }
        const { key, made } = makePaperKey(app, paper, { level, name, persona, expires_at: expiresAt });
        printResult(json, { id: made.id, key, level: made.level }, [
          key,
          `${made.level} key ${made.id} of ${paper}${endOf(made.expires_at)}; it is not shown again`,
        ]);
      }),
    );
}

function list(): Command {
  return owned('list')
    .description('list the access keys of a paper or of the domain records')
    .option('--email <address>', 'with --service: the keys of this account; by default those of no account')
    .option('--json', 'print the keys as JSON')
    .onData((app, { email, json, ...owner }: Owner & { email?: string; json?: boolean }) => {
      const paper = paperOf(owner);
      const keys = paper === null ? listServiceKeys(app, email) : listPaperKeys(app, paper);
      const lines = keys.map((key) => {
        const seat = 'seat' in key && key.seat !== null ? `  seat of ${key.seat}` : '';
        return `${key.id}  ${key.level.padEnd(paper === null ? 8 : 5)}  ${key.name}${seat}${lifeOf(key)}`;
      });
      printResult(json, keys, lines.length === 0 ? ['no keys'] : lines);
    });
}

function log(): Command {
  return owned('log')
    .description('show who made an access key, the days it was used on, when it expired, and who revoked it')
    .argument('<id>', 'the id of the key')
    .option('--json', 'print the log as JSON')
    .onData((app, id: string, { json, ...owner }: Owner & { json?: boolean }) => {
      const paper = paperOf(owner);
      const rows = paper === null ? serviceKeyLog(app, id) : paperKeyLog(app, paper, id);
      const lines = rows.map(({ at, event, by }) => `${at.padEnd(24)}  ${event}${by === undefined ? '' : ` by ${by}`}`);
      printResult(json, rows, lines);
    });
}

function revoke(): Command {
  return owned('revoke')
    .description('revoke an access key')
    .argument('<id>', 'the id of the key')
    .onData((app, id: string, owner: Owner) => {
      const paper = paperOf(owner);
      if (paper === null) revokeServiceKey(app, id);
      else revokePaperKey(app, paper, id);
      printResult(false, null, [`revoked ${id}`]);
    });
}

function pause(name: string, description: string, paused: boolean): Command {
  return new DataCommand(name)
    .description(description)
    .argument('<id>', 'the id of the key')
    .requiredOption('--paper <slug>', 'the paper')
    .onData((app, id: string, { paper }: { paper: string }) => {
      const changed = pausePaperKey(app, paper, id, paused);
      printResult(false, null, [`${id} is ${paused ? 'paused' : 'not paused'}${changed ? '' : ' (unchanged)'}`]);
    });
}

function rotate(): Command {
  return new DataCommand('rotate')
    .description('replace the signing key; the old key is listed as retired, and its receipts stay valid')
    .option('--json', 'print {kid, retired}')
    .onData(async (app, { json }: { json?: boolean }) => {
      const kid = rotateKey(app);
      const retired = app.store.desk.signingKeys().flatMap((key) => (key.retired_at === null ? [] : [key.kid]));
      await pressThenPrint(app, {}, (pressed) =>
        printResult(json, { kid, retired }, [`the signing key is now ${kid}; ${retired.length} retired`, ...pressed]),
      );
    });
}

export function seat(): Command {
  return new Command('seat')
    .description('seats of a paper: the access keys of people')
    .addCommand(addSeat())
    .addCommand(listSeats())
    .addCommand(removeSeatCommand())
    .addCommand(linkCommand());
}

type Seat = { paper: string; email: string; level: string; name?: string; expiresAt?: string; json?: boolean };

function addSeat(): Command {
  return new DataCommand('add')
    .description('give a person a seat; the key is shown only once')
    .requiredOption('--paper <slug>', 'the paper')
    .requiredOption('--email <address>', 'whose seat it is')
    .requiredOption('--level <level>', 'read or admin')
    .option('--name <name>', 'the person’s name, as signed in reviews; by default the address')
    .option('--expires-at <time>', 'when the key expires, as in 2026-12-31T00:00:00Z; by default never')
    .option('--json', 'print {id, key, level}')
    .onData((app, options: Seat) => {
      const { paper, email, level, name = email, expiresAt: expires_at } = options;
      const words = { level, name, seat: email, expires_at };
      const { key, made } = makePaperKey(app, paper, words, { seat: 'email' });
      printResult(options.json, { id: made.id, key, level: made.level }, [
        key,
        `${made.level} seat of ${made.seat} on ${paper} (key ${made.id})${endOf(made.expires_at)}; it is not shown again`,
      ]);
    });
}

function listSeats(): Command {
  return new DataCommand('list')
    .description('list the seats of a paper')
    .requiredOption('--paper <slug>', 'the paper')
    .option('--json', 'print the seats as JSON')
    .onData((app, { paper, json }: { paper: string; json?: boolean }) => {
      const seats = listPaperKeys(app, paper).filter(({ seat, revoked_at }) => seat !== null && revoked_at === null);
      const lines = seats.map(
        (key) =>
          `${key.id}  ${key.level.padEnd(5)}  ${key.seat}${key.name.toLowerCase() === key.seat ? '' : `  ${key.name}`}${lifeOf(key)}`,
      );
      printResult(json, seats, lines.length === 0 ? ['no seats'] : lines);
    });
}

function removeSeatCommand(): Command {
  return new DataCommand('remove')
    .description('remove a seat and revoke its key')
    .requiredOption('--paper <slug>', 'the paper')
    .requiredOption('--email <address>', 'whose seat it is')
    .onData((app, { paper, email }: { paper: string; email: string }) => {
      const { id, seat } = removeSeat(app, paper, email);
      printResult(false, null, [`${seat} no longer has a seat on ${paper}; key ${id} is revoked`]);
    });
}

type Life = Pick<ReturnType<typeof keyLifeRow>, 'expires_at' | 'used_at'> & { state: string };

function linkCommand(): Command {
  return new DataCommand('link')
    .description('print a link that signs in to the console once, for somebody who lost access or the first seat')
    .requiredOption('--paper <slug>', 'the paper')
    .option('--email <address>', 'whose seat it is; leave it out for a paper that never had a seat')
    .option('--json', 'print {url, seat, expires_at}')
    .onData((app, { paper, email, json }: { paper: string; email?: string; json?: boolean }) => {
      const { url, seat, expires_at } = operatorLink(app, paper, email);
      const what = seat === null ? `takes the first seat of ${paper}` : `signs ${seat} in to ${paper}`;
      printResult(json, { url, seat, expires_at: isoTime(expires_at) }, [
        url,
        `it ${what}, once, until ${isoTime(expires_at)}; anyone who has it can use it`,
      ]);
    });
}

/** The end of a line about a key: when it was last used and when it expires. */
function lifeOf({ state, expires_at, used_at }: Life): string {
  const used = used_at === null ? '' : `  last used ${used_at}`;
  if (state !== 'in_force') return `${used}  (${state})`;
  return `${used}${expires_at === null ? '' : `  until ${expires_at}`}`;
}

/** When a new key expires, in words. */
function endOf(expires_at: number | null): string {
  return expires_at === null ? '' : `, until ${isoTime(expires_at)}`;
}
