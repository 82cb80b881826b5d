import { Command } from 'commander';
import { type AppContext, withAppContext, withExistingData } from '../server/context.ts';
import { readSettings } from '../server/env.ts';
import { Fault } from '../shared/fault.ts';

/** The seconds of an `--every`, from 1s to 60m. Throws `invalid_request`. */
export function secondsOf(text: string): number {
  const [, count, unit] = /^(\d{1,4})([sm])$/.exec(text) ?? [];
  const seconds = Number(count ?? Number.NaN) * (unit === 'm' ? 60 : 1);
  if (seconds >= 1 && seconds <= 3_600) return seconds;
  throw new Fault('invalid_request', `--every ${text}: give a time from 1s to 60m, such as 30s or 5m`);
}

type Work<Typed extends unknown[]> = (app: AppContext, ...typed: Typed) => void | Promise<void>;

/** A command that works on the data of this installation. `work` gets the app, and the arguments and options. */
export class DataCommand extends Command {
  /** Sets the work. Without a database, the command fails. */
  onData<Typed extends unknown[]>(work: Work<Typed>): this {
    return this.action((...typed) => withExistingData(readSettings(), (app) => work(app, ...(typed as Typed))));
  }

  /** Sets the work. Without a database, the command creates one. */
  onAnyData<Typed extends unknown[]>(work: Work<Typed>): this {
    return this.action((...typed) => withAppContext(readSettings(), (app) => work(app, ...(typed as Typed))));
  }
}
