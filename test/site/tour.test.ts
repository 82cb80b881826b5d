import assert from 'node:assert/strict';
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { envIn, tempFolder } from '../support/app-context.ts';
import { Console, consoleBlocks } from '../support/console.ts';
import { startKnot, WITHOUT_SERVERS } from '../support/dns-servers.ts';
import { freePort } from '../support/free-port.ts';
import { copyProject, run, serve, until } from '../support/program.ts';
import { enterPapers } from '../support/small-papers.ts';
import { ONLY_WIDE } from '../support/wide.ts';

const pageOf = (name: string) => readFileSync(fileURLToPath(new URL(`../../${name}`, import.meta.url)), 'utf8');

/** A project as a newcomer has it after the first start, and a server that runs on it. */
async function newcomer(t: TestContext, more: Record<string, string> = {}) {
  const folder = tempFolder(t);
  copyProject(folder);
  const pressed = process.env.PRESSED_DEMO;
  if (pressed !== undefined) {
    cpSync(join(pressed, 'var'), join(folder, 'var'), { recursive: true });
    cpSync(join(pressed, 'papers'), join(folder, 'dist/papers'), { recursive: true });
  }
  const [port, recordsPort] = [await freePort(), await freePort()].map(String) as [string, string];
  const env = {
    ...envIn(folder),
    DIST_DIR: join(folder, 'dist/papers'),
    LOG_DIR: join(folder, 'dist/log'),
    PORT: port,
    RECORDS_PORT: recordsPort,
    ORIGIN: `http://127.0.0.1:${port}`,
    DATA_ORIGIN: `http://127.0.0.1:${recordsPort}`,
    ...more,
  };
  const server = await serve(t, folder, env, folder);
  const addresses = { 'http://localhost:4321': env.ORIGIN, 'http://localhost:4322': env.DATA_ORIGIN };
  const shell = new Console({ folder, env, addresses });
  return { folder, server, shell };
}

/** The file that a page shows after its path: `x/y.md`: and a fenced block. */
function fileShown(page: string, name: string): string {
  const after = page.slice(page.indexOf(`\`${name}\``));
  return /^```\w+\n([\s\S]*?)^```/m.exec(after)?.[1] ?? assert.fail(`the page shows no ${name}`);
}

test('the tour of the README does what it shows', { skip: ONLY_WIDE }, async (t) => {
  const page = pageOf('README.md');
  const { folder, shell } = await newcomer(t);
  const [first = [], broken = [], verified = [], api = []] = consoleBlocks(page);

  const note = join(folder, 'content/the-plumb-line/stories/a-key-words-note.md');
  const written = fileShown(page, 'content/the-plumb-line/stories/a-key-words-note.md');
  writeFileSync(note, written);
  await shell.play(first);
  assert(existsSync(join(folder, 'dist/papers/the-plumb-line/stories/a-key-words-note/index.html')));
  assert.match(readFileSync(join(folder, 'dist/papers/the-plumb-line/index.html'), 'utf8'), /a-key-words-note/);

  writeFileSync(note, written.replace(/ {2}- statement: ISO[\s\S]*?(?=---)/, ''));
  await shell.play(broken);
  writeFileSync(note, written);

  await shell.play(verified);

  const piece = fileShown(page, 'piece.json');
  writeFileSync(join(folder, 'piece.json'), piece);
  await shell.play(api);
  writeFileSync(join(folder, 'piece.json'), piece.replace('[^3]', '[^2]'));
  const { command = '' } = api.findLast((one) => one.command.startsWith('curl')) ?? {};
  await shell.play([{ command, output: ['{…"pressed":true,"files":22…'] }]);
  await shell.play([{ command: 'curl -s "$API/search?q=signed+note"', output: ['{…A door takes a piece…'] }]);
});

// On a push the tutorial makes one.
test('a paper of one’s own takes the lines that the README shows', { skip: ONLY_WIDE }, async (t) => {
  const part = pageOf('README.md').split('## A paper of your own')[1] ?? '';
  const { folder, server, shell } = await newcomer(t);
  for (const block of consoleBlocks(part).slice(0, 2)) await shell.play(block);
  assert(existsSync(join(folder, 'dist/papers/the-quay/index.html')));
  const front = await fetch(`${server.url}/the-quay/`);
  assert.equal(front.status, 200);
  assert.doesNotMatch(await front.text(), /How to write a day/, 'no sample is on air');
  assert.equal((await fetch(`${server.url}/the-quay/imprint/`)).status, 404);
  assert.match(await (await fetch(`${server.url}/the-quay/about/`)).text(), /declared AI personas/);
});

// A push plays the README; these pages of the manual tell of commands that have tests of their own.
test('a build machine presses what the ledger holds, and makes no key', { skip: ONLY_WIDE }, async (t) => {
  const [, recipe = ''] = /^```sh\nnpm ci\n([\s\S]*?)^```/m.exec(pageOf('docs/cdn.md')) ?? [];
  const machine = tempFolder(t);
  copyProject(machine);
  for (const built of ['dist', 'content']) rmSync(join(machine, built), { recursive: true, force: true });
  const source = tempFolder(t);
  await enterPapers(source, [{ slug: 'rocks' }, { slug: 'tides' }]);
  const exported = await run(t, source, ['ledger', 'export', join(machine, 'ledger.jsonl')]);
  assert.equal(exported.code, 0, exported.stderr);

  const env = { ...envIn(machine), DIST_DIR: join(machine, 'dist/papers') };
  const shell = new Console({ folder: machine, env, addresses: {} });
  const commands = recipe.trim().split('\n');
  assert.equal(commands.length, 2, recipe);
  await shell.play([
    { command: commands[0] ?? '', output: ['…'] },
    { command: `${commands[1]} && ls var`, output: ['…'] },
  ]);
  const read = (...path: string[]) => JSON.parse(readFileSync(join(...path), 'utf8'));
  const { keys } = read(env.DIST_DIR, 'tides/.well-known/newsdesk-keys.json');
  assert.deepEqual(
    keys.map(({ kid, retired_at }: Record<string, unknown>) => ({ kid, retired_at })),
    [{ kid: read(source, 'var/door.key').kid, retired_at: null }],
  );
  assert(!existsSync(join(machine, 'var/door.key')));
  // What hinders every paper is said once.
  rmSync(join(machine, 'dist/server'), { recursive: true });
  await shell.play([
    {
      command: 'npm run -s broadsheet -- press --full',
      output: ['broadsheet: the pages are not built; run `npm run build` (or `npm start`, which builds first)'],
    },
  ]);
});

test('the commands of the domain records do what they show', { skip: ONLY_WIDE || WITHOUT_SERVERS }, async (t) => {
  const zones = join(tempFolder(t), 'knot');
  mkdirSync(dirname(zones), { recursive: true });
  const knot = await startKnot(zones, [{ name: 'example.com', lines: ['@ MX 10 mail', 'mail A 192.0.2.1'] }]);
  t.after(knot.stop);
  const { shell, server } = await newcomer(t, { SCANNER: 'on', RESOLVERS: `127.0.0.1:${knot.port}` });
  const [[watch, ...rest] = []] = consoleBlocks(pageOf('docs/domain-records.md'));
  assert(watch !== undefined);
  await shell.play([watch]);
  // The server probes what is under watch within a second or two; nobody types the next command faster.
  await until(async () => (await (await fetch(`${server.records}/health`)).json()).last_scan_at);
  await shell.play(rest);
});
