import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { Command } from 'commander';
import { type CopyServer, standBy } from '../operate/standby/standby.ts';
import { readSettings } from '../server/env.ts';
import { PROJECT } from '../shared/project.ts';
import { printError } from '../shared/terminal/output.ts';
import { onStopSignal } from '../shared/terminal/stop-signal.ts';
import { currentPages } from './current-pages.ts';
import { secondsOf } from './frame.ts';

export function command(): Command {
  return new Command('standby')
    .description(
      'keep a copy of another machine’s desk from its backups, serve it, and take over when the lease is free',
    )
    .requiredOption('--from <place>', 'where the backups are: a folder, a file, s3://BUCKET/PREFIX/ or s3://BUCKET/KEY')
    .option('--every <time>', 'how often to look for a newer backup: 1s to 60m', '30s')
    .addHelpText(
      'after',
      '\nNeeds LEASE_URL. DATA_DIR must be empty, or the copy of a standby. Ends with the exit code of the server.',
    )
    .action(async ({ from, every }: { from: string; every: string }) => {
      const settings = readSettings();
      const ms = secondsOf(every) * 1_000;
      const stopping = new AbortController();
      onStopSignal(() => stopping.abort());
      const pages = currentPages();
      const say = (line: string) => printError(`standby: ${line}`);
      try {
        const { built } = pages;
        process.exitCode = await standBy({ settings, from, every: ms, serve, built, say, signal: stopping.signal });
      } finally {
        pages.abandon();
      }
    });
}

/** The IPC channel closes when this process ends in any way, and the server ends with it. */
function serve(copy: string | undefined): CopyServer {
  const args = ['serve', ...(copy === undefined ? [] : ['--copy', copy])];
  const child = spawn(process.execPath, [join(PROJECT, 'bin/broadsheet.mjs'), ...args], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  const ended = once(child, 'exit').then(([code]) => (typeof code === 'number' ? code : 1));
  return {
    ended,
    stop() {
      child.kill('SIGTERM');
      return ended;
    },
  };
}
