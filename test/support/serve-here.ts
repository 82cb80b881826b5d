import { PassThrough } from 'node:stream';
import pino from 'pino';
import { serve } from '../../src/cmd/serve.ts';
import { server as ofProcess } from '../../src/operate/metrics/readiness.ts';
import { readSettings } from '../../src/server/env.ts';
import { endBeforeRemoval, envIn, type Scope } from './app-context.ts';
import { emptyDatabase } from './empty-database.ts';
import { atLevel, SETTLED, withAddresses } from './program.ts';

/** A server in this process, with the members of `Serving` that do not need one of its own. */
export interface ServingHere {
  /** The URLs of the desk and of the records. */
  url: string;
  records: string;
  /** Its log so far: every line, and those of the level that the test requested. */
  said: { log: string; stderr: string };
  /** Stops it as SIGTERM does, and waits for the end. `code` is the exit code that its process would have. */
  stop(): Promise<{ code: number; stderr: string }>;
}

/**
 * Serves a folder's papers as `broadsheet serve` does, in the test's own process: that loads the code once for all its
 * files. Waits until the initial content is filed and pressed, or fails to be. Tests of signals, crashes, memory and
 * other processes take `serve` of program.ts, which starts the program.
 */
export async function serveHere(t: Scope, folder: string, more: Record<string, string> = {}): Promise<ServingHere> {
  const settings = readSettings(envIn(folder, await withAddresses(more)));
  emptyDatabase(settings.dataDir);
  const least = atLevel(settings.logLevel);
  const said = { log: '', stderr: '' };
  const listening = Promise.withResolvers<string>();
  const settled = Promise.withResolvers<void>();
  const output = new PassThrough({ encoding: 'utf8' }).on('data', (line: string) => {
    said.log += line;
    if (Number(/^\{"level":(\d+)/.exec(line)?.[1]) >= least) said.stderr += line;
    if (SETTLED.test(line)) settled.resolve();
  });
  let end = () => {};
  const ended = serve(settings, {
    logger: pino({ level: least < atLevel('info') ? settings.logLevel : 'info' }, output),
    print: listening.resolve,
    signals: {
      logTo() {},
      onStop(next) {
        end = next;
      },
      onReload() {},
    },
  });
  const stop = async () => {
    end();
    await ended;
    // Otherwise the other servers of this process would report that they are stopping.
    ofProcess.phase = 'serving';
    const code = Number(process.exitCode ?? 0);
    process.exitCode = undefined;
    return { code, stderr: said.stderr };
  };
  endBeforeRemoval(folder, stop);
  t.after(() => stop().then(() => {}));
  const early = ended.then(() => Promise.reject(new Error(`the server ended before it was ready: ${said.log}`)));
  early.catch(() => {});
  const line = await Promise.race([listening.promise, early]);
  const [, url = '', records = ''] = /^ready(?: desk=(\S+))?(?: records=(\S+))?/.exec(line) ?? [];
  if (url !== '') await Promise.race([settled.promise, early]);
  return { url, records, said, stop };
}
