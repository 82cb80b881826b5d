import { badgeOf } from '../../../src/proof/records/badge.ts';
import { previewOf } from '../../../src/proof/records/preview.ts';
import type { RecordsPages } from '../../../src/records/views.ts';
import type { AppContext } from '../../../src/server/context.ts';
import type { RecordsContext } from '../route.ts';
import { CSP_FETCHING, type PageSender } from './page.ts';
import { exampleObservation } from './receipt-view.ts';

/** The page on which a browser verifies receipts. Its script fetches documents from any host that allows it. */
export const verifyPage = (app: AppContext, pages: PageSender) => (c: RecordsContext) => {
  const frame = pages.frame(c, {
    title: 'Verify a receipt, a record or a bundle · Domain Records',
    description:
      'Verifies a signed observation of a hostname in your browser: signature, Merkle root, chain. Nothing is uploaded.',
    path: '/verify',
  });
  const headers = { 'Content-Security-Policy': CSP_FETCHING };
  return pages.send(c, '/records/verify', { frame, samples: samplesOf(app) }, { headers });
};

/** Samples that a reader can check by pressing a button; one of them was altered after it was signed. */
function samplesOf({ store, settings }: AppContext): RecordsPages['/records/verify']['samples'] {
  const observation = exampleObservation(store.records);
  if (observation === null) return null;
  const preview = previewOf(observation);
  const { domain, seq } = preview;
  const texts = {
    receipt: preview.receipt,
    preview: JSON.stringify(preview, null, 2),
    badge: badgeOf(observation, `${settings.dataOrigin}/t/${domain}`),
    altered: JSON.stringify({ ...preview, nameservers: ['ns1.somebody-else.example'] }, null, 2),
  };
  const names = [
    { id: 'preview', label: 'A preview' },
    { id: 'receipt', label: 'Its receipt' },
    { id: 'badge', label: 'Its badge' },
    { id: 'altered', label: 'A preview that was altered' },
  ];
  // `</script>` in a value would end the element.
  return { domain, seq, names, json: JSON.stringify(texts).replaceAll('<', '\\u003c') };
}
