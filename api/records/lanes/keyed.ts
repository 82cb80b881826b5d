import { createMiddleware } from 'hono/factory';
import type { Logger } from 'pino';
import { isoTime, nextDayAt } from '../../../src/proof/time.ts';
import { includedAgainAt } from '../../../src/records/meter/account-usage.ts';
import { creditsOf, REQUEST_COST } from '../../../src/records/meter/credits.ts';
import { meterHeaders, rateHeaders, secondsToNextMinute } from '../../../src/records/meter/headers.ts';
import type { Charged, Reservation, ReserveOutcome } from '../../../src/records/meter/meter-table.ts';
import type { AppContext } from '../../../src/server/context.ts';
import { Fault } from '../../../src/shared/fault.ts';
import type { RecordsEnv } from '../../env.ts';
import { signedIn } from '../../middleware/session.ts';
import { setHeader } from '../../responses/headers.ts';
import { PRIVATE } from '../../responses/send.ts';
import type { RecordsContext } from '../route.ts';
import { topUpUrl } from './addresses.ts';
import { plansIn } from './menu.ts';

/** Who pays for a request: a key, or an account whose owner is signed in. */
type Payer = Pick<Charged, 'account' | 'key' | 'isExport'>;

/** The keyed lane: an account pays for the requests of its key. */
export function keyedLane(app: AppContext, logger: Logger) {
  return meter(app, logger, (c) => {
    const key = c.get('key');
    return { account: key?.account ?? '', key: key?.id ?? '', isExport: c.req.path.startsWith('/v1/exports/') };
  });
}

/** The same for downloads of a signed-in reader. Without a session the request passes. */
export function sessionMeter(app: AppContext, logger: Logger) {
  return meter(app, logger, (c) => {
    const account = signedIn(c)?.id;
    return account === undefined ? null : { account, key: null, isExport: true };
  });
}

/** Reserves a unit before the handler runs, and refunds it for a response of 400 or above. Every response has its headers. */
function meter(app: AppContext, logger: Logger, payerOf: (c: RecordsContext) => Payer | null) {
  const { store, settings, clock } = app;
  return createMiddleware<RecordsEnv>(async (c, next) => {
    const payer = payerOf(c);
    if (payer === null) return next();
    const { outgoing } = c.env;
    setHeader(c, 'Cache-Control', PRIVATE);
    const reservation = await reserveUnit(app, c, payer);
    let failed = true;
    try {
      await next();
      // A handler may have written to Node's response directly.
      failed = (outgoing.headersSent ? outgoing.statusCode : c.res.status) >= 400;
    } finally {
      if (failed) {
        // A refund that fails is logged, and the response is sent.
        await store.database
          .groupCommit(() => store.records.meter.refund(reservation, clock.now(), settings.keyedDaily))
          .then((usage) => {
            if (usage !== null && !outgoing.headersSent) setHeaders(c, meterHeaders(usage));
          })
          .catch((error: unknown) => {
            const { account, day } = reservation;
            logger.error({ err: error, account, day }, 'a unit was not refunded');
          });
      }
    }
    return undefined;
  });
}

function setHeaders(c: RecordsContext, headers: Record<string, string>): void {
  for (const [name, value] of Object.entries(headers)) setHeader(c, name, value);
}

/** Throws `rate_limited`, `allowance_exhausted`, and `key_invalid` when the account was deleted. */
async function reserveUnit(
  { store, settings, clock }: AppContext,
  c: RecordsContext,
  payer: Payer,
): Promise<Reservation> {
  const { keyedDaily: daily, keyedPerMinute: perMinute, keyedExports: exports } = settings;
  // Resolves when the charge is on disk. The clock is read under the write lock, so that no other process is ahead of it.
  const result = await store.database.groupCommit(() =>
    store.records.meter.reserve({ ...payer, at: clock.now() }, { daily, perMinute, exports }),
  );
  if (result === null) throw new Fault('key_invalid', 'the account that pays for this was deleted');
  // The rate is that of a key.
  setHeaders(c, { ...meterHeaders(result.usage), ...(payer.key === null ? {} : rateHeaders(result.rate)) });
  if (result.outcome === 'reserved') return result.reservation;
  if (result.outcome === 'exhausted') throw exhausted(result, topUpUrl(settings), plansIn(c));
  const seconds = secondsToNextMinute(result.rate.at);
  setHeader(c, 'Retry-After', String(seconds));
  const message = `this key used its ${result.rate.limit} requests of this minute; try again in ${seconds} ${seconds === 1 ? 'second' : 'seconds'}. Nothing was charged`;
  throw new Fault('rate_limited', message);
}

function exhausted(
  { axis, axes, usage }: Extract<ReserveOutcome, { outcome: 'exhausted' }>,
  top_up: string,
  plans: ReturnType<typeof plansIn>,
): Fault {
  const resets_at = isoTime(axis === 'exports' ? nextDayAt(usage.at) : includedAgainAt(usage));
  const spent = `the requests that your plan includes for ${axes.includes('monthly') ? 'this month' : 'today'} are spent`;
  const what =
    axis === 'exports'
      ? 'the exports that your plan includes for today are spent'
      : axis === 'credits'
        ? `${spent}, and of your credits ${creditsOf(usage.balance)} are left, where a request takes ${creditsOf(REQUEST_COST)}`
        : `${spent}, and your account has no credits`;
  return new Fault(
    'allowance_exhausted',
    `${what}; ${axis === 'exports' ? 'buy a larger plan' : 'top up'} at ${top_up}, or wait until ${resets_at}. Nothing was charged`,
    {
      axis,
      axes,
      top_up,
      resets_at,
      ...plans,
    },
  );
}
