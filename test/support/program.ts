import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import Database from 'libsql';
import { endBeforeRemoval, envIn } from './app-context.ts';
import { runCommand } from './command.ts';
import { emptyDatabase } from './empty-database.ts';
import { freePort } from './free-port.ts';

const PROJECT = fileURLToPath(new URL('../../', import.meta.url));
export const PROGRAM = join(PROJECT, 'bin/broadsheet.mjs');

/** Progress lines, which only slow machines print, and lines of a build, if pages are older than their code. */
export const PROGRESS =
  /^(?:[^\n]*: \d+ (?:of \d+|so far)|import [^\n]*: \d+|\d\d:\d\d:\d\d \[(?:types|build|vite)\] [^\n]*)\n/gm;

/** The result of a process. `stderr` omits progress lines. */
export interface Outcome {
  code: number | null;
  signal: string | null;
  stdout: string;
  stderr: string;
}

/** The line that a server logs once it has filed and pressed the content that was there at its start. */
export const SETTLED = /"msg":"(?:pressed what was due at the start|content\/ could not be filed)"/;

/** Pino's levels. */
const LEVELS: Record<string, number> = {
  trace: 10,
  debug: 20,
  info: 30,
  warn: 40,
  error: 50,
  fatal: 60,
  silent: Number.POSITIVE_INFINITY,
};

/** The number of a level. */
export const atLevel = (name: string): number => LEVELS[name] ?? 0;

export interface Running {
  child: ChildProcess;
  /** Its output so far. */
  said: { stdout: string; stderr: string; log: string };
  ended: Promise<Outcome>;
}

export interface Serving extends Running {
  /** The URLs of the desk and of the records. */
  url: string;
  records: string;
  /** Sends SIGTERM and waits for the exit. */
  stop(): Promise<Outcome>;
}

type Ending = Pick<TestContext, 'after'>;

/**
 * Starts a command of the real program, or of a copy of the whole project, in a folder. It is killed when the test
 * ends. `cwd` is the folder whose `.env` it reads.
 */
export function start(
  t: Ending,
  folder: string,
  args: string[],
  more: Record<string, string> = {},
  project = PROJECT,
  cwd = project,
): Running {
  // A server's log says when it is ready. The test sees only lines of the level that it requested.
  const least = atLevel(more.LOG_LEVEL ?? 'silent');
  const logs = args[0] === 'serve' && least > atLevel('info');
  const child = spawn(process.execPath, [join(project, 'bin/broadsheet.mjs'), ...args], {
    cwd,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...envIn(folder), ...more, ...(logs ? { LOG_LEVEL: 'info' } : {}) },
  });
  const said = { stdout: '', stderr: '', log: '' };
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    said.stdout += text;
  });
  let line = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said.log += text;
    if (!logs) {
      said.stderr += text;
      return;
    }
    const lines = (line + text).split('\n');
    line = lines.pop() ?? '';
    for (const whole of lines) {
      const level = /^\{"level":(\d+)/.exec(whole)?.[1];
      if (level === undefined || Number(level) >= least) said.stderr += `${whole}\n`;
    }
  });
  const ended = once(child, 'close').then(
    ([code, signal]): Outcome => ({ code, signal, stdout: said.stdout, stderr: said.stderr.replace(PROGRESS, '') }),
  );
  const end = () => {
    child.kill('SIGKILL');
    return ended;
  };
  endBeforeRemoval(folder, end);
  t.after(end);
  return { child, said, ended };
}

/** Runs a command of the real program in a folder, in a process of its own, until it exits. */
export function runAlone(t: Ending, folder: string, args: string[], more: Record<string, string> = {}) {
  return start(t, folder, args, more).ended;
}

/** Commands that serve until a signal ends them. */
const ALONE = ['serve', 'standby'];

/**
 * Runs a command in a folder until it ends: in this process, which loads the program once. test/cmd/every-command.test.ts
 * runs each command in its own. Commands that run at the same time, or are killed, take `runAlone` or `start`.
 */
export async function run(
  t: Ending,
  folder: string,
  args: string[],
  more: Record<string, string> = {},
): Promise<Outcome> {
  if (ALONE.includes(args[0] ?? '') || more.LD_PRELOAD !== undefined) return runAlone(t, folder, args, more);
  const { code, stdout, stderr } = await runCommand(args, { ...process.env, ...envIn(folder), ...more });
  return { code, signal: null, stdout, stderr: stderr.replace(PROGRESS, '') };
}

/** The result of a `serve` that is refused before it is ready, in this process. */
export async function refusedServe(folder: string, more: Record<string, string> = {}): Promise<Outcome> {
  const { code, stdout, stderr } = await runCommand(['serve'], { ...process.env, ...envIn(folder), ...more });
  // Otherwise the other servers of this process would report that they are starting.
  const { server } = await import('../../src/operate/metrics/readiness.ts');
  server.phase = 'serving';
  return { code, signal: null, stdout, stderr };
}

/** Serves a folder's papers and waits until the initial content is filed and pressed, or fails to be. */
export async function serve(
  t: Ending,
  folder: string,
  more: Record<string, string> = {},
  project = PROJECT,
): Promise<Serving> {
  const serving = await serveAtOnce(t, folder, more, project);
  const { said, child, url } = serving;
  if (url !== '') await until(() => (SETTLED.test(said.log) || child.exitCode !== null ? true : null));
  return serving;
}

/** Adds the addresses of both services: pages contain links with them, so the ports are chosen before a server starts. */
export async function withAddresses(more: Record<string, string>): Promise<Record<string, string>> {
  const port = more.PORT ?? String(await freePort());
  const recordsPort = more.RECORDS_PORT ?? String(await freePort());
  return {
    PORT: port,
    ORIGIN: `http://127.0.0.1:${port}`,
    RECORDS_PORT: recordsPort,
    DATA_ORIGIN: `http://127.0.0.1:${recordsPort}`,
    ...more,
  };
}

/** Serves a folder's papers and waits only for the ready line. */
export async function serveAtOnce(
  t: Ending,
  folder: string,
  more: Record<string, string> = {},
  project = PROJECT,
): Promise<Serving> {
  emptyDatabase(more.DATA_DIR ?? join(folder, 'var'));
  const running = start(t, folder, ['serve'], await withAddresses(more), project);
  const [url, records] = await until(async () => {
    if (running.child.exitCode !== null)
      throw new Error(`the server ended before it was ready: ${running.said.stderr}`);
    const [, desk = '', data = ''] =
      /^ready(?: desk=(\S+))?(?: records=(\S+))?(?: metrics=\S+)?$/m.exec(running.said.stdout) ?? [];
    return desk === '' && data === '' ? null : [desk, data];
  });
  const stop = () => {
    running.child.kill('SIGTERM');
    return running.ended;
  };
  return { ...running, url, records, stop };
}

/** The lines of a log that report a failure: level error or above. */
export function failuresIn({ stderr }: { stderr: string }): string[] {
  return stderr.split('\n').filter((line) => /"level":[56]0/.test(line));
}

/** Copies the project with its built pages into a folder. Links to the installed packages. */
export function copyProject(folder: string): void {
  const parts = [
    'api',
    'astro.config.mjs',
    'bin',
    'content',
    'dist',
    'package-lock.json',
    'package.json',
    'packages/verify',
    'public',
    'src',
  ];
  for (const part of parts) cpSync(join(PROJECT, part), join(folder, part), { recursive: true });
  symlinkSync(join(PROJECT, 'node_modules'), join(folder, 'node_modules'));
}

/** Copies the repository's own papers into a folder. */
export function copyContent(folder: string): void {
  cpSync(join(PROJECT, 'content'), join(folder, 'content'), { recursive: true });
}

/** The addresses in the pages of `copyDemo`. A server with these addresses has nothing to press. */
export const DEMO_ORIGINS = { ORIGIN: 'http://localhost:4321', DATA_ORIGIN: 'http://localhost:4322' };

/**
 * Copies the repository's own papers into a folder. If test/run.mjs has filed and pressed them, copies that desk as
 * well, so that a server presses the pages for its own address but does not draw cards again.
 */
export function copyDemo(folder: string): void {
  copyContent(folder);
  const made = process.env.PRESSED_DEMO;
  if (made === undefined) return;
  for (const part of ['var', 'papers']) cpSync(join(made, part), join(folder, part), { recursive: true });
  // A press remembers where it was: without this, each copy is pressed whole.
  const db = new Database(join(folder, 'var/broadsheet.db'));
  db.prepare('UPDATE presses SET stamp = replace(stamp, ?, ?)').run(join(made, 'papers'), join(folder, 'papers'));
  db.close();
}

/** Repeats a call until it returns a result; the runner's own timeout ends it. */
export async function until<T>(ask: () => Promise<T | null> | T | null): Promise<T> {
  for (;;) {
    const answer = await ask();
    if (answer !== null) return answer;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
