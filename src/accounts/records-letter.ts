import type { Letter } from '../outbound/letter.ts';
import type { RecordsMail } from '../outbound/mail-content.ts';

/** What one kind of mail of the domain records says. */
export interface RecordsLetter {
  subject: string;
  headers: Record<string, string>;
  content: Pick<RecordsMail, 'preview' | 'heading' | 'reason'> & Partial<Omit<RecordsMail, 'template' | 'root'>>;
}

const EMPTY = { paragraphs: [], button: null, hosts: [], unnamed: 0, links: [] };

/** A letter as the service sends it. `root` is its public address, without a slash at its end. */
export function fromRecords(root: string, { subject, headers, content }: RecordsLetter): Letter {
  return {
    from: { name: 'Domain Records', root },
    subject,
    headers,
    content: { template: 'records', root, ...EMPTY, ...content },
  };
}
