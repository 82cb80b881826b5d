import type { Store } from '../store/store.ts';

/** Whether a process should get requests, and each check that says so. */
export type ReadinessReport = ReturnType<Readiness['report']>;

/** Tells load balancers whether to send requests to this process. */
export class Readiness {
  /** Outside `serve`, a listening server counts as serving. */
  phase: 'starting' | 'serving' | 'stopping' = 'serving';
  readonly #store: Pick<Store, 'vitalSigns'>;
  readonly #standby: { standsBy(): boolean; isPressed(): boolean };

  constructor(store: Pick<Store, 'vitalSigns'>, standby: { standsBy(): boolean; isPressed(): boolean }) {
    this.#store = store;
    this.#standby = standby;
  }

  report() {
    const checks: {
      server: 'ok' | 'starting' | 'stopping';
      database: 'ok' | 'no_answer';
      /** Where another server signs: whether every public paper is pressed here. */
      papers?: 'ok' | 'not_pressed';
    } = {
      server: this.phase === 'serving' ? 'ok' : this.phase,
      database: this.#isDatabaseReadable() ? 'ok' : 'no_answer',
    };
    // A server that signs presses by itself, and says of each page that it is being pressed.
    if (checks.database === 'ok' && this.#standby.standsBy()) {
      checks.papers = this.#standby.isPressed() ? 'ok' : 'not_pressed';
    }
    const isReady = Object.values(checks).every((check) => check === 'ok');
    return { status: isReady ? ('ready' as const) : ('not_ready' as const), checks };
  }

  #isDatabaseReadable(): boolean {
    try {
      this.#store.vitalSigns().assertReadable();
      return true;
    } catch {
      return false;
    }
  }
}
