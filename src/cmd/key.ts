import { randomBytes } from 'node:crypto';
import { Command } from 'commander';
import { keyHash, levelFrom, newKey } from '../desk/keys.ts';
import { Fault } from '../fault.ts';
import { isLine } from '../ledger/door.ts';
import { rotateDoor } from '../store/door-key.ts';
import { doorKeyFile, doorName, newId } from '../works/workshop.ts';
import { pressLines, pressShowing } from './press.ts';
import { say, withWorkshop } from './run.ts';

/** The longest name of a key, in UTF-16 units. */
const NAME_MAX = 100;

export function command(): Command {
  return new Command('key')
    .description('access keys of a paper, and the signing key of the door')
    .addCommand(create())
    .addCommand(list())
    .addCommand(revoke())
    .addCommand(rotate());
}

function create(): Command {
  return new Command('create')
    .description('make an access key; it is shown this once')
    .requiredOption('--paper <slug>', 'the one paper that it opens')
    .requiredOption('--level <level>', 'read, admin or agent')
    .requiredOption('--name <name>', 'whose it is')
    .option('--json', 'print {id, key, level}')
    .action((options: { paper: string; level: string; name: string; json?: boolean }) =>
      withWorkshop(({ store, now }) => {
        const level = levelFrom(options.level);
        if (!store.hasPaper(options.paper))
          throw new Fault('not_found', `there is no paper ${JSON.stringify(options.paper)}`);
        const name = options.name.normalize('NFC').trim();
        if (name === '' || name.length > NAME_MAX || !isLine(name)) {
          throw new Fault('invalid_request', `--name wants one line of 1 to ${NAME_MAX} characters: whose key it is`, {
            field: 'name',
          });
        }
        const id = newId();
        const key = newKey(randomBytes);
        store.keys.insert({ id, paper: options.paper, level, name, made_at: now(), revoked_at: null }, keyHash(key));
        say(options.json, { id, key, level }, [key, `${level} key ${id} of ${options.paper}; it is not shown again`]);
      }),
    );
}

function list(): Command {
  return new Command('list')
    .description("list a paper's access keys")
    .requiredOption('--paper <slug>', 'the paper')
    .option('--json', 'print them as JSON')
    .action((options: { paper: string; json?: boolean }) =>
      withWorkshop(({ store }) => {
        if (!store.hasPaper(options.paper))
          throw new Fault('not_found', `there is no paper ${JSON.stringify(options.paper)}`);
        const keys = store.keys.list(options.paper);
        const lines = keys.map(
          ({ id, level, name, revoked_at }) =>
            `${id}  ${level.padEnd(5)}  ${name}${revoked_at === null ? '' : '  (revoked)'}`,
        );
        say(options.json, keys, lines.length === 0 ? ['no keys'] : lines);
      }),
    );
}

function revoke(): Command {
  return new Command('revoke')
    .description('revoke an access key')
    .argument('<id>')
    .requiredOption('--paper <slug>', 'the paper')
    .action((id: string, options: { paper: string }) =>
      withWorkshop(({ store, now }) => {
        if (!store.keys.revoke(options.paper, id, now())) {
          throw new Fault(
            'not_found',
            `${options.paper} has no key ${JSON.stringify(id)} in force; \`broadsheet key list\` shows its keys`,
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
      withWorkshop(async (shop) => {
        const { store, settings, now } = shop;
        const door = rotateDoor(store, doorKeyFile(settings), doorName(settings), now());
        const retired = store.doorKeys().filter((key) => key.retired_at !== null);
        const reports = await pressShowing(shop, {});
        say(options.json, { kid: door.kid, retired: retired.map(({ kid }) => kid) }, [
          `the door signs with ${door.kid}; ${retired.length} retired`,
          ...pressLines(reports),
        ]);
      }),
    );
}
