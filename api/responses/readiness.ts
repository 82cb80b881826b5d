import type { Context } from 'hono';
import type { ReadinessReport } from '../../src/operate/metrics/readiness.ts';
import { respond } from './headers.ts';
import { JSON_TYPE } from './send.ts';

/** When to ask again, in seconds: load balancers ask about as often by themselves. */
const RETRY_AFTER = '2';

/** Why a server is not ready, in words. */
const REASONS = {
  starting: 'this server is starting; ask again soon',
  stopping: 'this server is stopping; send requests to another one',
  no_answer: 'the database does not answer; the log says why',
  not_pressed: 'this server stands by, and has no pressed papers yet; broadsheet press makes them',
} as const;

/** Sends 200 when the server is ready, and else 503 with the reason. */
export function sendReadiness(c: Context, { status, checks }: ReadinessReport): Response {
  const headers = { ...JSON_TYPE, 'Cache-Control': 'no-store' };
  if (status === 'ready') return respond(c, JSON.stringify({ status, checks }), 200, headers);
  const reason = checks.server !== 'ok' ? checks.server : checks.database !== 'ok' ? checks.database : 'not_pressed';
  const body = { error: 'unavailable', message: REASONS[reason], status, checks };
  return respond(c, JSON.stringify(body), 503, { ...headers, 'Retry-After': RETRY_AFTER });
}
