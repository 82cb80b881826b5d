import type { Paper } from '../desk/paper.ts';
import { contactMail, paperRoot } from '../desk/paper.ts';
import type { Letter } from '../outbound/letter.ts';
import type { PaperMail } from '../outbound/mail-content.ts';

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

/**
 * A paper's root in its mails. A private paper has no domain of its own: its pages for readers are on the shared host.
 */
export function mailRoot(paper: Paper, origin: string): string {
  return paper.paper_public ? paperRoot(paper, origin) : `${origin}/${paper.slug}`;
}
