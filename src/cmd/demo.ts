import { Command } from 'commander';
import { withAppContext } from '../app/context.ts';
import { demoGuide, demoVariables, prepareDemo } from '../app/demo-records.ts';
import { environmentWith, readSettings } from '../env.ts';
import { Fault } from '../fault.ts';
import { startDemoNameServer } from '../net/demo-name-server.ts';
import { demoAnswer } from '../records/demo-zone.ts';
import { MINUTE } from '../time.ts';
import { demoRemoval } from './demo-remove.ts';
import { serve } from './serve.ts';

export function command(): Command {
  return new Command('demo')
    .description('the demo papers, and the demonstration of the domain records')
    .addCommand(records())
    .addCommand(demoRemoval());
}

function records(): Command {
  return new Command('records')
    .description('serve a dozen invented names that change every minute, in a folder of their own, without a network')
    .option('--every <time>', 'how often names change and are probed: 1s to 60m', '60s')
    .action(async ({ every }: { every: string }) => {
      const seconds = secondsOf(every);
      const step = () => Math.floor(Date.now() / (seconds * 1_000));
      // Reads .env too, which the demonstration then overrides.
      const given = readSettings();
      const names = await startDemoNameServer((name, type) => demoAnswer(name, type, step()));
      try {
        const settings = readSettings(environmentWith(demoVariables(given, names.port, seconds)));
        const key = await withAppContext(settings, prepareDemo);
        await serve(settings, (app) => {
          const lines = demoGuide(app, { server: names.port, every: seconds, key });
          process.stdout.write(`${lines.join('\n')}\n`);
        });
      } finally {
        names.close();
      }
    });
}

function secondsOf(text: string): number {
  const [, count, unit] = /^(\d{1,4})([sm])$/.exec(text) ?? [];
  const seconds = Number(count ?? Number.NaN) * (unit === 'm' ? MINUTE / 1_000 : 1);
  if (seconds >= 1 && seconds <= 3_600) return seconds;
  throw new Fault('invalid_request', `--every ${text}: give a time from 1s to 60m, such as 30s or 5m`);
}
