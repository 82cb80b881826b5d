import { EventEmitter } from 'node:events';
import type { LogService } from '../../proof/log/leaf.ts';

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

/** What the server measures, for `/metrics`. No value names a person, an address, a key or a private paper. */
export const measurements = new EventEmitter<{
  request: [AnsweredRequest];
  press: [EndedPress];
  publication: [EndedPublication];
  /** Media files that MEDIA_URL lacks. */
  mediaCopies: [{ waiting: number }];
  mail: [
    {
      queue: string;
      outcome: 'sent' | 'bounced' | 'postponed' | 'refused' | 'server_failed' | 'given_up';
    },
  ];
  delivery: [{ queue: string; outcome: 'delivered' | 'refused' | 'switched_off'; ms: number }];
  hubPing: [{ outcome: 'accepted' | 'refused' | 'given_up' }];
  /** An answer of a witness, named as in the policy. */
  witness: [{ log: LogService; witness: string; outcome: 'cosigned' | 'failed' }];
  /** Whether a step of a log fails now. */
  logStep: [{ log: LogService; step: 'sign' | 'publish'; isFailing: boolean }];
  /** A check of an owner’s proof. */
  ownerCheck: [{ outcome: 'found' | 'absent' | 'unknown' }];
  probe: [{ outcome: 'recorded' | 'lost' | 'refused' }];
  /** The scanner had to pause. */
  scanPause: [{ reason: 'no_resolver' | 'queue_failed' }];
}>();

/** Requests that have begun and are not answered, by service. */
export const inFlight: Record<Service, number> = { desk: 0, records: 0 };
