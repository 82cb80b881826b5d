import type { Observation } from '../../../src/proof/records/observation.ts';
import type { Preview } from '../../../src/proof/records/preview.ts';
import type { ReceiptView } from '../../../src/records/views.ts';
import type { AppContext } from '../../../src/server/context.ts';
import { signalLabel } from './change-view.ts';

/** The part of an observation that everyone sees, types with values first. */
export function receiptView(preview: Preview): ReceiptView {
  const { domain, unicode, seq, observed_at, nameservers, summary, held_back, notice, receipt } = preview;
  return {
    ...{ domain, unicode, seq, observed_at, nameservers, held_back, notice, receipt },
    summary: Object.entries(summary)
      .map(([name, count]) => ({ name: signalLabel(name), count }))
      .sort((a, b) => Number(b.count > 0) - Number(a.count > 0)),
    // `</script>` in a value would end the element.
    preview_json: JSON.stringify(preview).replaceAll('<', '\\u003c'),
  };
}

/** The newest observation of the host that changed last, or of the first by name; null before the first. */
export function exampleObservation(
  records: Pick<AppContext['store']['records'], 'deltas' | 'list' | 'find' | 'observation'>,
): Observation | null {
  const [changed] = records.deltas({}, { limit: 1 });
  for (const host of [changed === undefined ? null : records.find(changed.domain), ...records.list('', HOSTS_TRIED)]) {
    const observation = host === null ? null : records.observation(host.id);
    if (observation !== null) return observation;
  }
  return null;
}

const HOSTS_TRIED = 3;
