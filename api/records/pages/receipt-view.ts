import type { Preview } from '../../../src/proof/records/preview.ts';
import type { ReceiptView } from '../../../src/records/views.ts';
import { signalLabel } from './change-view.ts';

/** What everyone is shown of an observation, types with values first. */
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
