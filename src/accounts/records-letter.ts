import type { Letter } from '../outbound/letter.ts';
import type { RecordsMail } from '../outbound/mail-content.ts';

/** The content of a mail from the domain records. */
export interface RecordsLetter {
  subject: string;
  headers: Record<string, string>;
  content: Pick<RecordsMail, 'preview' | 'heading' | 'reason'> & Partial<Omit<RecordsMail, 'template' | 'root'>>;
}

const EMPTY = { paragraphs: [], button: null, hosts: [], unnamed: 0, links: [] };

/** A letter from the service. `root` is its public address, without a trailing slash. */
export function fromRecords(root: string, { subject, headers, content }: RecordsLetter): Letter {
  return {
    from: { name: 'Domain Records', root },
    subject,
    headers,
    content: { template: 'records', root, ...EMPTY, ...content },
  };
}
