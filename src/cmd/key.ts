import { randomBytes } from 'node:crypto';
import { Command } from 'commander';
import { KeyBody, makeKey } from '../desk/keys.ts';
import { Fault } from '../fault.ts';
import { shapeProblems } from '../ledger/filing.ts';
import { rotateDoor } from '../store/door-key.ts';
import type { Workshop } from '../works/workshop.ts';
import { doorKeyFile, doorName, newId } from '../works/workshop.ts';
import { pressLines, pressShowing } from './press.ts';
import { say, withWorkshop } from './run.ts';

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
    .option('--persona <slug>', 'the one persona that an agent’s key signs as')
    .option('--json', 'print {id, key, level}')
    .action((options: { paper: string; level: string; name: string; persona?: string; json?: boolean }) =>
      withWorkshop((shop) => {
        const { level, name, persona } = options;
        const { key, made } = makeKeyOf(shop, options.paper, { level, name, persona });
        say(options.json, { id: made.id, key, level: made.level }, [
          key,
          `${made.level} key ${made.id} of ${options.paper}; it is not shown again`,
        ]);
      }),
    );
}

/**
 * Makes a key from the words of a command line; `options` are those of other
 * names. Throws `invalid_request` naming the option, `not_found`, `conflict`.
 */
export function makeKeyOf(
  shop: Workshop,
  paper: string,
  words: Record<string, string | undefined>,
  options: Record<string, string> = {},
) {
  const { store, now } = shop;
  needPaper(shop, paper);
  const body = KeyBody.safeParse(words);
  if (!body.success) {
    const [problem] = shapeProblems(body.error, words);
    const field = problem?.field ?? '';
    throw new Fault('invalid_request', `--${options[field] ?? field}: ${problem?.message}`, { field });
  }
  const maker = { keys: store.keys, archive: store.archive(paper), now, newId, random: randomBytes };
  return store.transact(() => makeKey(maker, paper, body.data));
}

/** Throws `not_found` when there is no such paper. */
export function needPaper({ store }: Workshop, paper: string): void {
  if (!store.hasPaper(paper)) throw new Fault('not_found', `there is no paper ${JSON.stringify(paper)}`);
}

function list(): Command {
  return new Command('list')
    .description("list a paper's access keys")
    .requiredOption('--paper <slug>', 'the paper')
    .option('--json', 'print them as JSON')
    .action((options: { paper: string; json?: boolean }) =>
      withWorkshop((shop) => {
        needPaper(shop, options.paper);
        const keys = shop.store.keys.list(options.paper);
        const lines = keys.map(
          ({ id, level, name, seat, used_at, revoked_at }) =>
            `${id}  ${level.padEnd(5)}  ${name}${seat === null ? '' : `  seat of ${seat}`}${used_at === null ? '' : `  last used ${new Date(used_at).toISOString()}`}${revoked_at === null ? '' : '  (revoked)'}`,
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
