import assert from 'node:assert/strict';
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { envIn, tempFolder } from '../support/app-context.ts';
import { freePort } from '../support/free-port.ts';
import { PROGRAM, until } from '../support/program.ts';
import { ONLY_WIDE } from '../support/wide.ts';

const PROJECT = fileURLToPath(new URL('../../', import.meta.url));
/** How long after its starter's end a server may still run, in ms: generous, for a loaded machine. */
const SOON = 10_000;

/** The machine's own folders of programs, without those that npm put before them. */
const OWN_PATH = (process.env.PATH ?? '')
  .split(delimiter)
  .filter((folder) => !folder.endsWith(join('node_modules', '.bin')))
  .join(delimiter);
const OLD_NODE = oldNode();

/** How a server is started: by a command, in a folder of the project. */
type Starter = [command: string, ...args: string[]];
/** How its starter is ended; negative pids are process groups. */
type End = (starter: number) => void;

const ENDS: Record<string, End> = {
  'SIGTERM to the starter': (pid) => process.kill(pid, 'SIGTERM'),
  'SIGKILL of the starter': (pid) => process.kill(pid, 'SIGKILL'),
  'SIGHUP to the starter': (pid) => process.kill(pid, 'SIGHUP'),
  'SIGTERM to the group': (pid) => process.kill(-pid, 'SIGTERM'),
  'SIGINT to the group, as a terminal sends it': (pid) => process.kill(-pid, 'SIGINT'),
  'SIGHUP to the group, as a closing terminal sends it': (pid) => process.kill(-pid, 'SIGHUP'),
};

/** On a push: a signal that is passed on, and one that cannot be. */
const ON_A_PUSH = ['SIGTERM to the starter', 'SIGKILL of the starter'];

test('npm start ends as npm does, and the next one starts immediately', (t) =>
  endsWith(t, ['npm', 'start'], ONLY_WIDE === false ? Object.keys(ENDS) : ON_A_PUSH));

test('npm run broadsheet ends as npm does', { skip: ONLY_WIDE }, (t) =>
  endsWith(
    t,
    ['npm', 'run', '-s', 'broadsheet', '--', 'serve'],
    ['SIGTERM to the starter', 'SIGKILL of the starter', 'SIGTERM to the group'],
  ),
);

test(
  'on an older Node the server ends as the process that handed over to it',
  { skip: ONLY_WIDE || (OLD_NODE === null && 'every Node on the PATH is new enough') },
  // It passes SIGHUP on, with which a server without a terminal reads its settings again.
  (t) =>
    endsWith(
      t,
      [OLD_NODE as string, PROGRAM, 'serve'],
      ONLY_WIDE === false ? Object.keys(ENDS).filter((name) => !name.startsWith('SIGHUP')) : ON_A_PUSH.slice(1),
    ),
);

test('a server left in the background by a shell keeps running', { skip: ONLY_WIDE }, async (t) => {
  const server = await startServer(t, [
    'sh',
    '-c',
    `"${process.execPath}" "${PROGRAM}" serve & echo left; exec sleep 0.1`,
  ]);
  await server.ended;
  // Longer than it takes to notice that npm is gone.
  await new Promise((resolve) => setTimeout(resolve, 1_500));
  process.kill(server.pid, 0);
  process.kill(server.pid, 'SIGTERM');
  await gone(server.pid);
});

test('a command handed over by an older Node reads standard input, writes, and passes on its exit code', {
  skip: OLD_NODE === null && 'every Node on the PATH is new enough',
}, async (t) => {
  const child = spawn(OLD_NODE as string, [PROGRAM, 'verify', '-'], {
    stdio: ['pipe', 'pipe', 'pipe'],
    env: { ...process.env, ...envIn(tempFolder(t)) },
  });
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said += text;
  });
  child.stdin.end('not a proof');
  const [code] = await once(child, 'close');
  assert.equal(code, 2, said);
  assert.match(said, /standard input|JSON|proof/i);
});

interface Server {
  /** The process that serves, which is not always the one that was started. */
  pid: number;
  starter: ChildProcess;
  /** The starter's end. */
  ended: Promise<[code: number | null, signal: string | null]>;
}

/** Ends a starter in these ways; each time the server ends too, and the next one gets the same ports. */
async function endsWith(t: TestContext, starter: Starter, ways = Object.keys(ENDS)): Promise<void> {
  const folder = tempFolder(t);
  const ports = { PORT: String(await freePort()), RECORDS_PORT: String(await freePort()) };
  let last: number | null = null;
  for (const name of ways) {
    // What is left over is ended with the whole test, not with its part: the next part is to see it.
    await t.test(name, async () => {
      const server = await startServer(t, starter, folder, ports);
      if (last !== null) await gone(last);
      ENDS[name]?.(server.starter.pid as number);
      const [code] = await server.ended;
      last = server.pid;
      // What npm passes on to the group once more may meet a process that is past its own end.
      if (name === 'SIGTERM to the starter') assert.equal(code, 0, 'it ended well');
    });
  }
  if (last !== null) await gone(last);
}

/** Starts a server as the leader of a group of its own and waits until it is ready. */
async function startServer(
  t: TestContext,
  [command, ...args]: Starter,
  folder = tempFolder(t),
  ports: Record<string, string> = {},
): Promise<Server> {
  const starter = spawn(command, args, {
    cwd: PROJECT,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...outsideNpm(), PATH: OWN_PATH, ...envIn(folder), LOG_LEVEL: 'info', ...ports },
  });
  let said = '';
  for (const stream of [starter.stdout, starter.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      said += text;
    });
  }
  const ended = once(starter, 'exit') as Server['ended'];
  const group = -(starter.pid as number);
  t.after(() => {
    if (isAlive(group)) process.kill(group, 'SIGKILL');
  });
  const pid = await until(() => {
    const broken = starter.exitCode !== null && starter.exitCode !== 0;
    assert.ok(!broken, `it ended before it was ready: ${said}`);
    const pid = Number(/"pid":(\d+)/.exec(said)?.[1] ?? 0);
    return /^ready /m.test(said) && pid > 0 ? pid : null;
  });
  return { pid, starter, ended };
}

async function gone(pid: number): Promise<void> {
  const last = Date.now() + SOON;
  await until(() => {
    assert.ok(Date.now() < last, `the server ${pid} outlived its starter`);
    return isAlive(pid) ? null : true;
  });
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** The environment without what npm tells the scripts that it runs, as this test may be one. */
function outsideNpm(): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('npm_')));
}

/** A Node on the PATH that cannot run the program itself. */
function oldNode(): string | null {
  for (const folder of OWN_PATH.split(delimiter)) {
    const node = join(folder, 'node');
    if (!existsSync(node)) continue;
    const [major = 0, minor = 0] = execFileSync(node, ['-p', 'process.versions.node'], { encoding: 'utf8' })
      .split('.')
      .map(Number);
    if (major < 22 || (major === 22 && minor < 18)) return node;
  }
  return null;
}
