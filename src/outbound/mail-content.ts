/** What every mail says: its HTML and its plain text are made of it. Every address is absolute. */
interface Content {
  /** What mail programs show beside the subject. */
  preview: string;
  heading: string | null;
  paragraphs: string[];
  button: Link | null;
  /** Why it was sent. */
  reason: string;
}

export interface Link {
  url: string;
  label: string;
}

/** A mail of a paper. It loads nothing but pictures of its own pieces and edition. */
export interface PaperMail extends Content {
  template: 'paper';
  language: string;
  nameplate: string;
  /** The paper's front, with a slash at its end; null of a private one, whose pages no reader can open. */
  home_url: string | null;
  /** ISO 8601, printed under the heading as a day, or null. */
  date: string | null;
  /** Pieces by section in the paper's order. */
  groups: { name: string; stories: MailStory[] }[];
  casts: MailCast[];
  manage_url: string | null;
  unsubscribe_url: string | null;
  colors: { light: MailColors; dark: MailColors };
}

/** A mail of the domain records. */
export interface RecordsMail extends Content {
  template: 'records';
  /** Public address of the service, without a slash at its end. */
  root: string;
  heading: string;
  hosts: MailedHost[];
  /** How many changes there are beyond those listed. */
  unnamed: number;
  links: Link[];
}

export type MailContent = PaperMail | RecordsMail;

/** A piece in a mail. */
export interface MailStory {
  headline: string;
  dek: string;
  category: string;
  /** Its page, or null where a reader cannot open it. */
  url: string | null;
  byline: { name: string; title: string };
  language: string;
  /** ISO 8601. */
  published_at: string;
  image: MailPicture | null;
}

/** A video edition in a mail. */
export interface MailCast {
  title: string;
  description: string;
  /** YYYY-MM-DD. */
  day: string;
  url: string | null;
  duration_s: number;
  poster: MailPicture | null;
}

/** A picture of a piece or an edition, in a format that mail programs show. */
export interface MailPicture {
  url: string;
  alt: string;
  width: number | null;
  height: number | null;
}

/** The changes at one hostname. */
export interface MailedHost {
  hostname: string;
  url: string;
  /** Each change in one line of plain text, oldest first. `at` is ISO 8601. */
  changes: { line: string; at: string }[];
}

/** Colours of a mail, as `#rrggbb`. */
export interface MailColors {
  paper: string;
  ink: string;
  soft: string;
  faint: string;
  rule: string;
  accent: string;
  plate: string;
  on_accent: string;
}
