import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';
import { Fault } from '../../../src/fault.ts';
import type { SignedIn } from '../../env.ts';
import { setHeader } from '../../responses/headers.ts';
import type { RecordsContext } from '../route.ts';
import { exportFiles } from '../v1/export-files.ts';
import type { AccountDoors } from './pages.ts';
import { accountPage } from './pages.ts';

/** How many files an account may download in an hour: what programs fetch, they fetch with a key. */
const DOWNLOADS = { points: 60, duration: 3_600 };

/** The exports for people: the same files, by the session, and free. */
export function downloadDoors(doors: AccountDoors): void {
  const files = exportFiles(doors.app);
  const limiter = new RateLimiterMemory(DOWNLOADS);
  const counted = async (c: RecordsContext, { account }: SignedIn): Promise<void> => {
    await limiter.consume(account.id).catch((refusal: unknown) => {
      if (!(refusal instanceof RateLimiterRes)) throw refusal;
      const seconds = Math.max(1, Math.ceil(refusal.msBeforeNext / 1000));
      setHeader(c, 'Retry-After', String(seconds));
      throw new Fault(
        'rate_limited',
        `the account downloaded ${DOWNLOADS.points} files within the hour; try again in ${seconds} seconds, or export with a key`,
      );
    });
  };

  accountPage(doors, '/account/exports/changes.csv', async (c, signed) => {
    await counted(c, signed);
    return files.changes(c, {});
  });
  accountPage(doors, '/account/exports/domains/:file', async (c, signed) => {
    await counted(c, signed);
    return files.observations(c, c.req.param('file') ?? '');
  });
  accountPage(doors, '/account/exports/domains/:domain/evidence.json', async (c, signed) => {
    await counted(c, signed);
    return files.evidence(c, c.req.param('domain') ?? '');
  });
}
