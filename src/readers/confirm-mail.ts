import { choicesInWords } from './choices.ts';
import type { PaperLetter } from './paper-letter.ts';
import type { Subscriber } from './subscriber.ts';

/**
 * The mail that asks whether a subscription is the reader's own, the one thing that is sent to an unconfirmed address.
 * `root` is the paper's, without a slash at its end.
 */
export function confirmMail(row: Subscriber, nameplate: string, root: string, token: string): PaperLetter {
  return {
    subject: `Confirm your subscription to ${nameplate}`,
    // The answer to a request, not a list: no vacation notice is to answer it (RFC 3834, section 5).
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
