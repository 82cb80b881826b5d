import { AsyncLocalStorage } from 'node:async_hooks';
import { Command } from 'commander';
import { COMMANDS } from '../../src/cmd/commands.ts';
import { Fault, stackOf } from '../../src/shared/fault.ts';
import { VERSION } from '../../src/shared/project.ts';
import { printable, printableLines } from '../../src/shared/terminal/output.ts';

/** The output of a command that runs in this process. */
interface Printed {
  stdout: Buffer[];
  stderr: Buffer[];
}

/** Thrown where a command would end its process. */
class Exit extends Error {
  readonly code: number;

  constructor(code: number) {
    super(`exit ${code}`);
    this.code = code;
  }
}

const running = new AsyncLocalStorage<Printed>();
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Captures the output of commands. Node's test runner writes to the same streams, but not within a command. */
function keepOutput(name: 'stdout' | 'stderr'): void {
  const stream = process[name];
  const write = stream.write.bind(stream) as (...all: unknown[]) => boolean;
  stream.write = ((chunk: string | Uint8Array, ...rest: unknown[]) => {
    const printed = running.getStore();
    if (printed === undefined) return write(chunk, ...rest);
    printed[name].push(Buffer.from(chunk as string));
    const done = rest.at(-1);
    if (typeof done === 'function') process.nextTick(done as () => void);
    return true;
  }) as typeof stream.write;
}

let isPrepared = false;

function prepare(): void {
  if (isPrepared) return;
  isPrepared = true;
  keepOutput('stdout');
  keepOutput('stderr');
  const exit = process.exit.bind(process);
  process.exit = ((code?: number) => {
    if (running.getStore() === undefined) return exit(code);
    throw new Exit(Number(code ?? process.exitCode ?? 0));
  }) as typeof process.exit;
}

/** Replaces the environment. Returns a function that restores the previous one. */
function useEnvironment(env: NodeJS.ProcessEnv): () => void {
  const before = { ...process.env };
  const put = (to: NodeJS.ProcessEnv) => {
    for (const name of Object.keys(process.env)) if (to[name] === undefined) delete process.env[name];
    for (const [name, value] of Object.entries(to)) if (process.env[name] !== value) process.env[name] = value;
  };
  put(env);
  return () => put(before);
}

/** Commands run one after the other, because each replaces the whole environment. */
let last: Promise<unknown> = Promise.resolve();

/** Runs a command of the program in this process, as `bin/broadsheet.mjs` would in its own, and returns what it printed. */
export function runCommand(
  args: readonly string[],
  env: NodeJS.ProcessEnv,
): Promise<{ code: number; stdout: string; stderr: string }> {
  const turn = last.then(() => runNow(args, env));
  last = turn.catch(() => {});
  return turn;
}

async function runNow(args: readonly string[], env: NodeJS.ProcessEnv) {
  prepare();
  const printed: Printed = { stdout: [], stderr: [] };
  const listeners = SIGNALS.map((signal) => [signal, process.listeners(signal)] as const);
  const exitCode = process.exitCode;
  const restore = useEnvironment(env);
  process.exitCode = undefined;
  let code = 0;
  try {
    code = await running.run(printed, () => perform(args));
  } finally {
    process.exitCode = exitCode;
    restore();
    for (const [signal, before] of listeners) {
      for (const one of process.listeners(signal)) if (!before.includes(one)) process.removeListener(signal, one);
    }
  }
  const text = (chunks: Buffer[]) => Buffer.concat(chunks).toString();
  return { code, stdout: text(printed.stdout), stderr: text(printed.stderr) };
}

/** Does the same as src/cmd/broadsheet.ts. */
async function perform(args: readonly string[]): Promise<number> {
  try {
    const command = await COMMANDS[args[0] ?? '']?.();
    if (command === undefined) throw new Error(`there is no command ${args[0]}`);
    await new Command('broadsheet')
      .enablePositionalOptions()
      .version(VERSION)
      .showHelpAfterError()
      .addCommand(command)
      .parseAsync(args, { from: 'user' });
  } catch (error) {
    if (error instanceof Exit) return error.code;
    process.stderr.write(
      `broadsheet: ${error instanceof Fault ? printable(error.message) : printableLines(stackOf(error))}\n`,
    );
    process.exitCode ||= 1;
  }
  return Number(process.exitCode ?? 0);
}
