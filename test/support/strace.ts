import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { tempFolder } from './app-context.ts';
import { until } from './program.ts';

interface Scope {
  after(work: () => unknown): void;
}

/** Why tests that trace system calls are skipped; false when they run. In CI a missing strace makes them fail. */
export const NO_STRACE = reasonNotToTrace();

function reasonNotToTrace(): string | false {
  const isHere = spawnSync('strace', ['-V']).status === 0;
  if (!isHere) {
    return process.env.NEED_SERVERS === undefined && 'strace is not installed; install the Debian package strace';
  }
  // Even with strace installed, a container may not be allowed to trace. `timeout` ends a successful trace after a
  // second, with 124.
  const { status } = spawnSync('sh', ['-c', 'sleep 3 & exec timeout 1 strace -qq -o /dev/null -p $!']);
  return status === 124 ? false : 'strace may not look at another process here (CAP_SYS_PTRACE)';
}

/** One system call of a thread: its name, and its paths and texts. */
export interface Call {
  thread: string;
  name: string;
  text: string;
}

export interface Trace {
  /**
   * The calls since the trace began, in order of their start. The end of one that another thread's call interrupted is
   * a call of its own, such as `fdatasync resumed`, with the text of its start.
   */
  calls(): Call[];
}

/** Traces what all threads of a running process write, sync and rename, until the test ends. */
export async function traced(t: Scope, pid: number): Promise<Trace> {
  const file = join(tempFolder(t), 'trace');
  const names = 'fsync,fdatasync,write,writev,pwrite64,pwritev,sendto,sendmsg,rename,renameat,renameat2,link,linkat';
  const strace = spawn('strace', ['-f', '-y', '-s', '80', '-e', `trace=${names}`, '-o', file, '-p', String(pid)], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const ended = once(strace, 'close');
  t.after(async () => {
    strace.kill('SIGTERM');
    await ended;
  });
  let said = '';
  strace.stderr.setEncoding('utf8').on('data', (text: string) => {
    said += text;
  });
  await until(() => {
    if (strace.exitCode !== null) throw new Error(`strace ended: ${said}`);
    return /attached/.test(said) || null;
  });
  return {
    calls() {
      const begun = new Map<string, string>();
      return readFileSync(file, 'utf8')
        .split('\n')
        .flatMap((line) => {
          const [, thread = '', resumed] = /^(\d+) +<\.\.\. (\w+) resumed>/.exec(line) ?? [];
          if (resumed !== undefined) return [{ thread, name: `${resumed} resumed`, text: begun.get(thread) ?? '' }];
          const [, by = '', name = '', text = ''] = /^(\d+) +(\w+)\((.*)$/.exec(line) ?? [];
          begun.set(by, text);
          return name === '' ? [] : [{ thread: by, name, text }];
        });
    },
  };
}
