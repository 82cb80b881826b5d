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

/** The action of a command on existing data: `work` gets the app, and what the user typed. */
export const onData =
  <Typed extends unknown[]>(work: Work<Typed>) =>
  (...typed: Typed) =>
    withExistingData(readSettings(), (app) => work(app, ...typed));

/** The same for a command that may be the first one here, and creates the database. */
export const onAnyData =
  <Typed extends unknown[]>(work: Work<Typed>) =>
  (...typed: Typed) =>
    withAppContext(readSettings(), (app) => work(app, ...typed));
