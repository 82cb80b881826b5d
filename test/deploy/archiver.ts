import { fork } from 'node:child_process';
import { RUN_FLAGS } from '../../src/records/jobs/run-process.ts';
import { envIn, type Scope } from '../support/app-context.ts';

/** What the archiver says: the most memory that it had so far, in MB, and its processor time, in ms. */
export interface ArchiverSaid {
  rss: number;
  cpu: number;
}

/** An archiver in a process of its own. `at` has it do all that is due at a time (ms). */
export function archiverIn(t: Scope, folder: string, settings: Record<string, string>) {
  const child = fork(new URL('archiver-child.ts', import.meta.url), [], {
    execArgv: RUN_FLAGS,
    env: { ...process.env, ...envIn(folder, settings) },
  });
  t.after(() => void child.kill('SIGKILL'));
  return {
    at(now: number): Promise<ArchiverSaid> {
      const said = Promise.withResolvers<ArchiverSaid>();
      const ended = (code: number | null) => said.reject(new Error(`the archiver ended with ${code}`));
      child.once('message', said.resolve).once('exit', ended);
      child.send(now);
      return said.promise.finally(() => child.off('exit', ended));
    },
    end: () => child.disconnect(),
  };
}
