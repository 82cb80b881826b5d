import type { Store } from '../store/store.ts';

/** What a server does now. */
type Phase = 'starting' | 'serving' | 'stopping';

/** Whether a process should get requests, and each check that says so. */
export interface ReadinessReport {
  status: 'ready' | 'not_ready';
  checks: {
    server: 'ok' | 'starting' | 'stopping';
    database: 'ok' | 'no_answer';
  };
}

/** Tells load balancers whether to send requests to this process. */
export class Readiness {
  /** Outside `serve`, whatever listens is serving. */
  phase: Phase = 'serving';
  readonly #store: Pick<Store, 'vitalSigns'>;

  constructor(store: Pick<Store, 'vitalSigns'>) {
    this.#store = store;
  }

  report(): ReadinessReport {
    const checks: ReadinessReport['checks'] = {
      server: this.phase === 'serving' ? 'ok' : this.phase,
      database: this.#isDatabaseReadable() ? 'ok' : 'no_answer',
    };
    const isReady = checks.server === 'ok' && checks.database === 'ok';
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
