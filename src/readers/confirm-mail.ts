import { choicesInWords } from './choices.ts';
import type { PaperLetter } from './paper-letter.ts';
import type { Subscriber } from './subscriber.ts';

/**
 * The mail that asks a reader to confirm a subscription, the only one that is sent to an unconfirmed address. `root` is
 * the paper's, without a trailing slash.
 */
export function confirmMail(row: Subscriber, nameplate: string, root: string, token: string): PaperLetter {
  return {
    subject: `Confirm your subscription to ${nameplate}`,
    // The response to a request, not a list: prevents vacation replies (RFC 3834, section 5).
    headers: { 'Auto-Submitted': 'auto-replied' },
    content: {
      preview: 'Nothing else is sent until you confirm.',
      heading: 'Confirm your subscription',
      paragraphs: [
        `Somebody, you we hope, ordered ${nameplate} by mail for this address: ${choicesInWords(row.asked ?? row)}.`,
        'The link opens a page with one button, which confirms. It holds for 72 hours.',
      ],
      button: { url: `${root}/subscribe/confirm?token=${token}`, label: 'Confirm the subscription' },
      reason: 'If it was not you, do nothing: without your confirmation nothing else is sent.',
    },
  };
}
