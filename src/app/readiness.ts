import type { Store } from '../store/store.ts';

/** What a server does now. */
type Phase = 'starting' | 'serving' | 'stopping';

/** Whether a process should get requests, and each check that says so. */
export interface ReadinessReport {
  status: 'ready' | 'not_ready';
  checks: {
    server: 'ok' | 'starting' | 'stopping';
    database: 'ok' | 'no_answer';
    /** Where another server signs: whether every public paper is pressed here. */
    papers?: 'ok' | 'not_pressed';
  };
}

/** Decides whether a standby has something to serve. */
export interface Standby {
  standsBy(): boolean;
  isPressed(): boolean;
}

/** Tells load balancers whether to send requests to this process. */
export class Readiness {
  /** Outside `serve`, a listening server counts as serving. */
  phase: Phase = 'serving';
  readonly #store: Pick<Store, 'vitalSigns'>;
  readonly #standby: Standby;

  constructor(store: Pick<Store, 'vitalSigns'>, standby: Standby) {
    this.#store = store;
    this.#standby = standby;
  }

  report(): ReadinessReport {
    const checks: ReadinessReport['checks'] = {
      server: this.phase === 'serving' ? 'ok' : this.phase,
      database: this.#isDatabaseReadable() ? 'ok' : 'no_answer',
    };
    // A server that signs presses by itself, and says of each page that it is being pressed.
    if (checks.database === 'ok' && this.#standby.standsBy()) {
      checks.papers = this.#standby.isPressed() ? 'ok' : 'not_pressed';
    }
    const isReady = Object.values(checks).every((check) => check === 'ok');
    return { status: isReady ? 'ready' : 'not_ready', checks };
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
