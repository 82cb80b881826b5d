import { isoOrNull } from '../time.ts';
import { sectionsOf } from './choices.ts';
import type { Dossier } from './dossier.ts';
import type { Choices, Subscriber } from './subscriber.ts';

/** A subscriber as admins see it; `sections` are the paper's. */
export function subscriberRow(row: Subscriber, sections: readonly string[]) {
  return {
    email: row.email,
    confirmed_at: iso(row.confirmed_at),
    ...choicesRow(row, sections),
    last_sent_at: iso(row.last_sent_at),
    ...(row.webhook === null
      ? {}
      : { webhook: row.webhook, webhook_secret: row.webhook_secret ?? '', webhook_id: row.id }),
  };
}

/** Everything that is stored about an address, on the wire; `sections` are the paper's. */
export function dossierRecord(email: string, { subscriber, suppression, mails }: Dossier, sections: readonly string[]) {
  return {
    email,
    subscriber:
      subscriber === null
        ? null
        : {
            ...subscriberRow(subscriber, sections),
            made_at: new Date(subscriber.made_at).toISOString(),
            ordered_at: iso(subscriber.ordered_at),
            asked: subscriber.asked === null ? null : choicesRow(subscriber.asked, sections),
          },
    suppression: suppression === null ? null : { reason: suppression.reason, at: iso(suppression.at) },
    mails: mails.map(({ kind, about, state, attempts, settled_at, due_at }) => ({
      kind,
      about,
      state,
      attempts,
      at: iso(settled_at ?? due_at),
    })),
  };
}

/** Choices on the wire. Sections are listed by name, even if all are meant. */
export function choicesRow(choices: Choices, sections: readonly string[]) {
  return { cadence: choices.cadence, sections: sectionsOf(choices, sections), cast: choices.cast };
}

function iso(ms: number): string;
function iso(ms: number | null): string | null;
function iso(ms: number | null): string | null {
  return isoOrNull(ms);
}
