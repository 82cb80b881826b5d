import { isoTime } from '../time.ts';
import type { AlertDelivery } from './change-alert.ts';

/** A delivery as the log of a webhook shows it: times in ISO 8601. */
export function alertDeliveryRow({ id, type, state, made_at, due_at, attempts }: AlertDelivery) {
  return {
    ...{ id, type, state },
    made_at: isoTime(made_at),
    due_at: isoTime(due_at),
    attempts: attempts.map(({ at, ms, status, error }) => ({
      at: isoTime(at),
      ms,
      outcome: [status, error].filter((part) => part !== null).join(' '),
    })),
  };
}
