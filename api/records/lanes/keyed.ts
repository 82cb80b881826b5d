import type { ServerResponse } from 'node:http';
import { createMiddleware } from 'hono/factory';
import type { Logger } from 'pino';
import type { ServiceKey } from '../../../src/accounts/service-key.ts';
import type { AppContext } from '../../../src/app/context.ts';
import { Fault } from '../../../src/fault.ts';
import { includedAgainAt } from '../../../src/meter/account-usage.ts';
import { creditsOf, REQUEST_COST } from '../../../src/meter/credits.ts';
import { meterHeaders } from '../../../src/meter/headers.ts';
import type { Reservation, ReserveOutcome } from '../../../src/meter/meter-table.ts';
import { rateHeaders, secondsToNextMinute } from '../../../src/meter/rate.ts';
import { isoTime } from '../../../src/time.ts';
import type { RecordsEnv } from '../../env.ts';
import { setHeader } from '../../responses/headers.ts';
import { PRIVATE } from '../../responses/send.ts';
import { topUpUrl } from './addresses.ts';

/**
 * The keyed lane: a unit is taken before a door is asked, and given back when
 * the door answers 400 or more. Every answer has the meter's headers as they
 * are with it, refusals too. Throws `rate_limited`, `allowance_exhausted`.
 */
export function keyedLane(app: AppContext, logger: Logger) {
  return createMiddleware<RecordsEnv>(async (c, next) => {
    const { outgoing } = c.env;
    const tell = (headers: Record<string, string>) => {
      for (const [name, value] of Object.entries(headers)) setHeader(c, name, value);
    };
    setHeader(c, 'Cache-Control', PRIVATE);
    const taken = await takeUnit(app, c.get('key'), tell);
    let failed = true;
    try {
      await next();
      // A door may have written to Node's response by itself.
      failed = (outgoing.headersSent ? outgoing.statusCode : c.res.status) >= 400;
    } finally {
      if (failed) await giveUnitBack(app, taken, { tell: tellUntilSent(outgoing, tell), logger });
    }
  });
}

type Tell = (headers: Record<string, string>) => void;

/**
 * Takes the unit of one request of an account's key, and tells the headers of
 * its answer. Throws `rate_limited`, `allowance_exhausted`, and `key_invalid`
 * when the account is gone.
 */
async function takeUnit(
  { store, settings, now }: AppContext,
  key: ServiceKey | null,
  tell: Tell,
): Promise<Reservation> {
  const limits = { daily: settings.keyedDaily, perMinute: settings.keyedPerMinute };
  const of = { account: key?.account ?? '', key: key?.id ?? '' };
  // Charges of one moment share a commit. The clock is read under its lock: what another process counted is not of a time to come.
  const take = await store.groupCommit(() => store.meter.reserve({ ...of, at: now() }, limits));
  if (take === null) throw new Fault('key_invalid', 'X-Service-Key: the account of this key is no more');
  tell({ ...meterHeaders(take.usage), ...rateHeaders(take.rate) });
  if (take.outcome === 'reserved') return take.reservation;
  if (take.outcome === 'exhausted') throw exhausted(take, topUpUrl(settings));
  const seconds = secondsToNextMinute(take.rate.at);
  tell({ 'Retry-After': String(seconds) });
  throw new Fault(
    'rate_limited',
    `this key made its ${limits.perMinute} requests of this minute; try again in ${seconds} ${seconds === 1 ? 'second' : 'seconds'}. Nothing was charged`,
  );
}

/** Gives the unit of a failed answer back, and tells the headers of that answer. Never throws: the answer goes out. */
async function giveUnitBack(
  { store, settings, now }: AppContext,
  taken: Reservation,
  { tell, logger }: { tell: Tell; logger: Logger },
): Promise<void> {
  try {
    const usage = await store.groupCommit(() => store.meter.refund(taken, now(), settings.keyedDaily));
    if (usage !== null) tell(meterHeaders(usage));
  } catch (error) {
    logger.error({ err: error, account: taken.account, day: taken.day }, 'a unit was not given back');
  }
}

/** A door that wrote to the response by itself has sent its headers. */
function tellUntilSent(outgoing: Pick<ServerResponse, 'headersSent'>, tell: Tell): Tell {
  return (headers) => {
    if (!outgoing.headersSent) tell(headers);
  };
}

function exhausted({ axis, axes, usage }: Extract<ReserveOutcome, { outcome: 'exhausted' }>, top_up: string): Fault {
  const resets_at = isoTime(includedAgainAt(usage));
  const spent = `the requests that your plan includes for ${axes.includes('monthly') ? 'this month' : 'today'} are spent`;
  const what =
    axis === 'credits'
      ? `${spent}, and of your credits ${creditsOf(usage.balance)} are left, where a request takes ${creditsOf(REQUEST_COST)}`
      : `${spent}, and your account has no credits`;
  return new Fault(
    'allowance_exhausted',
    `${what}; top up at ${top_up}, or wait until ${resets_at}. Nothing was charged`,
    {
      axis,
      axes,
      top_up,
      resets_at,
    },
  );
}
