import { join } from 'node:path';
import { publicPapers } from '../../desk/press/newsstand.ts';
import { isTree } from '../../desk/press/tree.ts';
import type { AppContext } from '../../server/context.ts';

/** The server of this process. Outside `serve`, a listening server counts as serving. */
export const server: { phase: 'starting' | 'serving' | 'stopping' } = { phase: 'serving' };

/** Whether a process should get requests, and each check that says so. */
export type ReadinessReport = ReturnType<typeof readiness>;

/** Tells load balancers whether to send requests to this process. */
export function readiness({ settings, store, signer }: AppContext) {
  const checks: {
    server: 'ok' | 'starting' | 'stopping';
    database: 'ok' | 'no_answer';
    /** Where another server signs: whether every public paper is pressed here. */
    papers?: 'ok' | 'not_pressed';
  } = {
    server: server.phase === 'serving' ? 'ok' : server.phase,
    database: isReadable(store) ? 'ok' : 'no_answer',
  };
  // A server that signs presses by itself, and says of each page that it is being pressed.
  if (checks.database === 'ok' && signer.state()?.isHeld === false) {
    const isPressed = publicPapers(store.desk).every(({ slug }) => isTree(join(settings.distDir, slug)));
    checks.papers = isPressed ? 'ok' : 'not_pressed';
  }
  const isReady = Object.values(checks).every((check) => check === 'ok');
  return { status: isReady ? ('ready' as const) : ('not_ready' as const), checks };
}

function isReadable({ database }: AppContext['store']): boolean {
  try {
    database.vitalSigns().assertReadable();
    return true;
  } catch {
    return false;
  }
}
