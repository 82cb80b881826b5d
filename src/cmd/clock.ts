import { Command } from 'commander';
import { pressThenPrint } from '../operate/publish/press-progress.ts';
import { isDay, parseSpan } from '../proof/time.ts';
import { Fault } from '../shared/fault.ts';
import { printResult } from '../shared/terminal/output.ts';
import { askOutside } from '../signing/clock/clock-watch.ts';
import { type Corrected, correctClock } from '../signing/clock/correct-clock.ts';
import { DataCommand } from './frame.ts';

export function command(): Command {
  return new Command('clock').description('repair a desk whose clock ran ahead').addCommand(
    new DataCommand('correct')
      .description(
        'record in the ledger and in the log that every time later than now is wrong; run it once the clock is right again',
      )
      .option('--now <time>', 'the current time, as in 2026-11-26T12:00Z; required if no other machine can be asked')
      .option('--no-press', 'do not press afterwards')
      .option('--json', 'print {true_time, corrected}')
      .onAnyData(async (app, { now, press, json }: { now?: string; press: boolean; json?: boolean }) => {
        const outside = await askOutside(app.settings, app.clock.now);
        const done = correctClock(app, outside, now === undefined ? null : momentIn(now));
        await pressThenPrint(app, press && done.corrected.length > 0 ? {} : null, (pressed) =>
          printResult(json, done, [
            ...(done.corrected.length === 0
              ? [`nothing to correct: no time here is later than ${done.true_time}`]
              : [`the true time is ${done.true_time}; what was dated later counts as of then:`]),
            ...done.corrected.map((one) => `  ${correctedText(one)}`),
            ...pressed,
          ]),
        );
      }),
  );
}

/** The instant that `text` names, in ms; a day alone is not accepted. Throws `invalid_request`. */
function momentIn(text: string): number {
  const span = parseSpan(text);
  if (span !== null && !isDay(text)) return span.from;
  throw new Fault(
    'invalid_request',
    `--now ${JSON.stringify(text.slice(0, 60))}: write a date and a time with its zone, as in 2026-11-26T12:00Z`,
    { field: 'now' },
  );
}

function correctedText({ service, paper, of, seqs }: Corrected): string {
  const whose = paper ?? (service === 'records' ? 'the domain records' : 'the signing key');
  if (seqs === null) return whose;
  const what = service === 'records' ? 'observations' : of === 'facts' ? 'versions of facts' : 'receipts';
  return `${whose}: ${what} no. ${seqs.first} to ${seqs.last}`;
}
