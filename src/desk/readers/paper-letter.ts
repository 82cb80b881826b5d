import { fill } from '../../phrases/fill.ts';
import { phrasesOf } from '../../phrases/tables.ts';
import type { Letter } from '../../shared/outbound/letter.ts';
import type { PaperMail } from '../../shared/outbound/mail-content.ts';
import { contactMail, type Paper, paperRoot } from '../papers/paper.ts';
import { choicesInWords } from './choices.ts';
import type { Subscriber } from './subscriber.ts';

/** Members that every mail of a paper has. */
type Common = 'template' | 'language' | 'nameplate' | 'home_url' | 'colors';

/** The content of a mail from a paper. */
export interface PaperLetter {
  subject: string;
  headers: Record<string, string>;
  content: Pick<PaperMail, 'preview' | 'reason'> & Partial<Omit<PaperMail, Common>>;
}

const EMPTY = {
  heading: null,
  date: null,
  paragraphs: [],
  button: null,
  groups: [],
  casts: [],
  manage_url: null,
  unsubscribe_url: null,
};

/** A letter from a paper. `origin` is that of the shared host. */
export function fromPaper(
  paper: Paper,
  origin: string,
  colors: PaperMail['colors'],
  { subject, headers, content }: PaperLetter,
): Letter {
  const { nameplate, language } = paper;
  const root = mailRoot(paper, origin);
  const home_url = paper.paper_public ? `${root}/` : null;
  return {
    from: { name: nameplate, root, contact: contactMail(paper) },
    subject,
    headers,
    content: { template: 'paper', language, nameplate, home_url, colors, ...EMPTY, ...content },
  };
}

/** A paper's root in its mails. The pages of a private paper for readers are on the shared host. */
export function mailRoot(paper: Paper, origin: string): string {
  return paper.paper_public ? paperRoot(paper, origin) : `${origin}/${paper.slug}`;
}

/** The mail that asks a reader to confirm, the only one to an unconfirmed address. `root` is the paper's. */
export function confirmMail(row: Subscriber, paper: Paper, root: string, token: string): PaperLetter {
  const { nameplate, language } = paper;
  const { reader, mail: t } = phrasesOf(language);
  return {
    subject: fill(t.confirm_subject, { paper: nameplate }),
    // The response to a request, not a list: prevents vacation replies (RFC 3834, section 5).
    headers: { 'Auto-Submitted': 'auto-replied' },
    content: {
      preview: t.confirm_preview,
      heading: reader.confirm_title,
      paragraphs: [
        fill(t.confirm_what, { paper: nameplate, choices: choicesInWords(language, row.asked ?? row) }),
        t.confirm_note,
      ],
      button: { url: `${root}/subscribe/confirm?token=${token}`, label: t.confirm },
      reason: t.confirm_reason,
    },
  };
}
