import type { RecordsContext } from '../context.ts';
import type { PageSender } from './page.ts';
import { CSP_FETCHING } from './page.ts';

/** The page on which a browser verifies receipts. Its script fetches documents from any host that allows it. */
export const verifyPage = (pages: PageSender) => (c: RecordsContext) => {
  const frame = pages.frame(c, {
    title: 'Verify a receipt, a record or a bundle · Domain Records',
    description:
      'Verifies a signed observation of a hostname in your browser: signature, Merkle root, chain. Nothing is uploaded.',
    path: '/verify',
  });
  return pages.send(c, '/records/verify', { frame }, { headers: { 'Content-Security-Policy': CSP_FETCHING } });
};
