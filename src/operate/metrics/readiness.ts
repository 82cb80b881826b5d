import { join } from 'node:path';
import { publicPapers } from '../../desk/press/newsstand.ts';
import { isTree } from '../../desk/press/tree.ts';
import type { LogService } from '../../proof/log/leaf.ts';
import type { AppContext } from '../../server/context.ts';
import { anyDiskState, diskStates } from '../../server/disks.ts';
import { eventLoop } from '../../shared/workers/event-loop.ts';
import { signingState } from '../../signing/signing-state.ts';

/** The server of this process. Outside `serve`, a listening server counts as serving. */
export const server: { phase: 'starting' | 'serving' | 'stopping' } = { phase: 'serving' };

/** Whether a process should get requests, and each check that says so. */
export type ReadinessReport = ReturnType<typeof readiness>;

/** Tells load balancers whether to send requests to this process. */
export function readiness({ settings, store, signer }: AppContext) {
  const checks: {
    server: 'ok' | 'starting' | 'stopping';
    database: 'ok' | 'no_answer';
    /** Only when another server signs: whether every public paper is pressed here. */
    papers?: 'ok' | 'not_pressed';
  } = {
    server: server.phase === 'serving' ? 'ok' : server.phase,
    database: isReadable(store) ? 'ok' : 'no_answer',
  };
  // Not for a server that signs: it presses by itself, and meanwhile answers that a page is being pressed.
  if (checks.database === 'ok' && signer.state()?.isHeld === false) {
    const isPressed = publicPapers(store.desk).every(({ slug }) => isTree(join(settings.distDir, slug)));
    checks.papers = isPressed ? 'ok' : 'not_pressed';
  }
  const isReady = Object.values(checks).every((check) => check === 'ok');
  return { status: isReady ? ('ready' as const) : ('not_ready' as const), checks };
}

/** The part of `/health` that is about this process, the same for both services. */
export async function healthOf(app: AppContext, service: LogService) {
  const { log, lock } = app.store.database;
  const disks = await diskStates(app.settings, app.store);
  return {
    event_loop_delay_max_ms: eventLoop.worst(),
    log_fence: log.fence(service),
    signing: signingState(app, service),
    clock_fault: app.clock.fault()?.message ?? null,
    disk: anyDiskState(disks),
    disks,
    write_lock_held_ms: Math.round(lock.heldFor()),
  };
}

function isReadable({ database }: AppContext['store']): boolean {
  try {
    database.vitalSigns().assertReadable();
    return true;
  } catch {
    return false;
  }
}
