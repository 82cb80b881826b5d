import { createMiddleware } from 'hono/factory';
import type { Logger } from 'pino';
import { RateLimiterMemory } from 'rate-limiter-flexible';
import { limitsOf } from '../../../src/records/plans.ts';
import type { AppContext } from '../../../src/server/context.ts';
import { Fault } from '../../../src/shared/fault.ts';
import type { RecordsEnv } from '../../env.ts';
import { signedIn } from '../../middleware/session.ts';
import { setHeader } from '../../responses/headers.ts';
import { sessionMeter } from '../lanes/keyed.ts';
import type { RecordsContext, RecordsHandler } from '../route.ts';
import type { ExportFiles } from '../v1/exports.ts';
import type { ListedFacet } from '../v1/facets.ts';
import { signedInPage } from './pages.ts';

interface Exports {
  files: ExportFiles;
  provenance(c: RecordsContext): unknown;
}

/** Downloads for signed-in readers: the same files as with a key, each for one unit of the account's allowance. */
export function downloadHandlers(app: AppContext, logger: Logger, { files, provenance }: Exports) {
  const before = [refuseLured, limitDownloads(app), sessionMeter(app, logger)];
  const metered = (handle: (c: RecordsContext) => unknown): RecordsHandler => ({
    before,
    handle: signedInPage(handle),
  });
  return {
    changes: metered((c) => files.changes(c, {})),
    catalog: metered((c) => files.catalog(c)),
    list: (file: string, kind: ListedFacet) => metered((c) => files.list(c, file, kind)),
    observations: metered((c) => files.observations(c, c.req.param('file') ?? '')),
    evidence: metered((c) => files.evidence(c, c.req.param('domain') ?? '')),
    provenance: metered(provenance),
  };
}

/** Throws `wrong_origin` for links on other sites, which would spend the allowance without the owner's intent. */
const refuseLured = createMiddleware<RecordsEnv>((c, next) => {
  if (!/^(?:cross|same)-site$/.test(c.req.header('sec-fetch-site') ?? '')) return next();
  const message =
    'a download uses a request of your account, so links on other sites do not start one; open the page of the hostname and download from there';
  throw new Fault('wrong_origin', message);
});

/** The rate of a key, for an account that is signed in. Throws `rate_limited`. */
function limitDownloads(app: AppContext) {
  const limiter = new RateLimiterMemory({ points: Number.MAX_SAFE_INTEGER, duration: 60 });
  return createMiddleware<RecordsEnv>(async (c, next) => {
    const account = signedIn(c);
    if (account === null) return next();
    const { per_minute } = limitsOf(app, account).limits;
    const { consumedPoints, msBeforeNext } = await limiter.consume(account.id);
    if (consumedPoints <= per_minute) return next();
    const seconds = Math.max(1, Math.ceil(msBeforeNext / 1000));
    setHeader(c, 'Retry-After', String(seconds));
    const message = `this account downloaded ${per_minute} files within a minute; try again in ${seconds} seconds. Nothing was charged`;
    throw new Fault('rate_limited', message);
  });
}
