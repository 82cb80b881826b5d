/** The content of every mail, from which its HTML and its plain text are made. All URLs are absolute. */
interface Content {
  /** The preview text that mail clients show beside the subject. */
  preview: string;
  heading: string | null;
  paragraphs: string[];
  button: Link | null;
  /** Why the reader gets it. */
  reason: string;
}

export interface Link {
  url: string;
  label: string;
}

/** A mail of a paper. It loads nothing but pictures of its own pieces and editions. */
export interface PaperMail extends Content {
  template: 'paper';
  language: string;
  nameplate: string;
  /** The front page, with a trailing slash; null for a private paper, whose pages readers cannot open. */
  home_url: string | null;
  /** ISO 8601, shown as a day under the heading; or null. */
  date: string | null;
  /** Pieces by section, in the paper's order. */
  groups: { name: string; stories: MailStory[] }[];
  casts: MailCast[];
  manage_url: string | null;
  unsubscribe_url: string | null;
  colors: { light: MailColors; dark: MailColors };
}

/** A mail of the domain records. */
export interface RecordsMail extends Content {
  template: 'records';
  /** Public address of the service, without a trailing slash. */
  root: string;
  heading: string;
  hosts: MailedHost[];
  /** The number of changes beyond those listed. */
  unnamed: number;
  links: Link[];
}

export type MailContent = PaperMail | RecordsMail;

/** A piece in a mail. */
export interface MailStory {
  headline: string;
  dek: string;
  category: string;
  /** The URL of its page; null when readers cannot open it. */
  url: string | null;
  byline: { name: string; title: string };
  /** Who wrote it, when people did and the persona brought it in. */
  writer: string | null;
  /** Whether it comes from an archive, and so was not checked by the desk's rules. */
  is_archived: boolean;
  language: string;
  /** ISO 8601. */
  published_at: string;
  image: MailPicture | null;
}

/** The edition of a day in a mail. */
export interface MailCast {
  title: string;
  description: string;
  /** Whether it is audio alone, and no video. */
  is_audio: boolean;
  /** YYYY-MM-DD. */
  day: string;
  url: string | null;
  duration_s: number;
  poster: MailPicture | null;
}

/** A picture of a piece or an edition, in a format that mail clients show. */
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
