import type { LogService } from '../ledger/log/leaf.ts';

/** Something that happens again and again. Without a listener, publishing costs nothing. */
class Measurement<T> {
  readonly #listeners = new Set<(value: T) => void>();

  get hasListeners(): boolean {
    return this.#listeners.size > 0;
  }

  publish(value: T): void {
    for (const listener of this.#listeners) listener(value);
  }

  /** Returns a function that ends the subscription. */
  subscribe(listener: (value: T) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }
}

/** The two services of this program. */
export type Service = 'desk' | 'records';

interface AnsweredRequest {
  service: Service;
  method: string;
  /** The pattern of the route, such as `/{paper}/api/v1/stories/{id}`: never a path. */
  route: string;
  status: number;
  ms: number;
}

interface EndedPress {
  outcome: 'pressed' | 'failed';
  /** Whether everything was pressed. */
  full: boolean;
  ms: number;
  /** Files that it wrote and removed. */
  written: number;
  removed: number;
}

interface EndedPublication {
  outcome: 'published' | 'failed';
  ms: number;
  /** Objects that it sent and removed. */
  sent: number;
  removed: number;
}

/**
 * What the server measures while it runs, for `/metrics`. No value names a person, an address, a key or a private
 * paper.
 */
export const measurements = {
  request: new Measurement<AnsweredRequest>(),
  press: new Measurement<EndedPress>(),
  publication: new Measurement<EndedPublication>(),
  /** Media files that MEDIA_URL lacks. */
  mediaCopies: new Measurement<{ waiting: number }>(),
  mail: new Measurement<{
    queue: string;
    outcome: 'sent' | 'bounced' | 'postponed' | 'refused' | 'server_failed' | 'given_up';
  }>(),
  delivery: new Measurement<{ queue: string; outcome: 'delivered' | 'refused' | 'switched_off'; ms: number }>(),
  hubPing: new Measurement<{ outcome: 'accepted' | 'refused' | 'given_up' }>(),
  /** An answer of a witness, named as in the policy. */
  witness: new Measurement<{ log: LogService; witness: string; outcome: 'cosigned' | 'failed' }>(),
  /** Whether a step of a log fails now. */
  logStep: new Measurement<{ log: LogService; step: 'sign' | 'publish'; isFailing: boolean }>(),
  probe: new Measurement<{ outcome: 'recorded' | 'lost' | 'refused' }>(),
  /** The scanner had to pause. */
  scanPause: new Measurement<{ reason: 'no_resolver' | 'queue_failed' }>(),
} as const;

/** Requests that have begun and are not answered, by service. */
export const inFlight: Record<Service, number> = { desk: 0, records: 0 };
