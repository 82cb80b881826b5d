import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';
import { Fault } from '../../../src/fault.ts';
import type { SignedIn } from '../../env.ts';
import { setHeader } from '../../responses/headers.ts';
import type { RecordsContext } from '../context.ts';
import type { ExportFiles } from '../v1/export-files.ts';
import { signedInPage } from './pages.ts';

/** Downloads per account and hour. Programs use a key instead. */
const DOWNLOADS = { points: 60, duration: 3_600 };

/** The exports for people: the same files as with a key, by session, and free. */
export function downloadHandlers(files: ExportFiles) {
  const limiter = new RateLimiterMemory(DOWNLOADS);
  const limited = (send: (c: RecordsContext) => Response) =>
    signedInPage(async (c, { account }: SignedIn) => {
      await limiter.consume(account.id).catch((rejection: unknown) => {
        if (!(rejection instanceof RateLimiterRes)) throw rejection;
        const seconds = Math.max(1, Math.ceil(rejection.msBeforeNext / 1000));
        setHeader(c, 'Retry-After', String(seconds));
        throw new Fault(
          'rate_limited',
          `this account downloaded ${DOWNLOADS.points} files in the last hour; try again in ${seconds} seconds, or export with a key`,
        );
      });
      return send(c);
    });
  return {
    changes: limited((c) => files.changes(c, {})),
    observations: limited((c) => files.observations(c, c.req.param('file') ?? '')),
    evidence: limited((c) => files.evidence(c, c.req.param('domain') ?? '')),
  };
}
