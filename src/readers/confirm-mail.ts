import type { Paper } from '../desk/paper.ts';
import { fill } from '../phrases/fill.ts';
import { phrasesOf } from '../phrases/tables.ts';
import { choicesInWords } from './choices.ts';
import type { PaperLetter } from './paper-letter.ts';
import type { Subscriber } from './subscriber.ts';

/**
 * The mail that asks a reader to confirm a subscription, the only one that is sent to an unconfirmed address. `root` is
 * the paper's, without a trailing slash.
 */
export function confirmMail(row: Subscriber, paper: Paper, root: string, token: string): PaperLetter {
  const { nameplate, language } = paper;
  const t = phrasesOf(language).mail;
  return {
    subject: fill(t.confirm_subject, { paper: nameplate }),
    // The response to a request, not a list: prevents vacation replies (RFC 3834, section 5).
    headers: { 'Auto-Submitted': 'auto-replied' },
    content: {
      preview: t.confirm_preview,
      heading: t.confirm_title,
      paragraphs: [
        fill(t.confirm_what, { paper: nameplate, choices: choicesInWords(language, row.asked ?? row) }),
        t.confirm_note,
      ],
      button: { url: `${root}/subscribe/confirm?token=${token}`, label: t.confirm },
      reason: t.confirm_reason,
    },
  };
}
