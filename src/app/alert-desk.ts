import type { AlertDesk } from '../readers/alert-desk.ts';
import { DEFAULT_HOUR } from '../readers/digest.ts';
import type { AppContext } from './context.ts';
import { newId } from './context.ts';

/** The rules of alerts wired to a workshop. */
export function openAlertDesk({ store, now }: AppContext): AlertDesk {
  return {
    alerts: store.alerts,
    events: store.events,
    papers: () => store.paperSlugs().map((slug) => ({ slug, ...(store.paper(slug)?.alerts ?? DEFAULT_HOUR) })),
    transact: store.transact,
    now,
    newId,
  };
}
