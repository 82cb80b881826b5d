import type { StateName } from '../archive.ts';
import type { Citation } from '../fact.ts';
import type { Level } from '../papers/keys.ts';
import type { Scope } from '../papers/oauth.ts';
import type { Typefaces } from '../papers/typefaces.ts';
import type { ReviewRow } from '../review.ts';
import type { Segment } from './difference.ts';
import type { EditorView } from './editor-view.ts';
import type { FactContent, ReviseLine } from './fact-views.ts';
import type { Changed } from './fields.ts';
import type { PaperContent } from './paper-views.ts';
import type { sessionRow } from './session.ts';

type Content = PaperContent & FactContent;
type ContentPages = { [Route in keyof Content]: ConsoleShell & Content[Route] };

/** The views of the pages of a paper’s console, by route. */
export interface ConsolePages extends ContentPages {
  '/console/write': ConsoleShell & EditorView;
  '/console/refused': ConsoleShell;
  '/console/today': ConsoleShell & {
    /** Pieces by agents that wait for approval, or were sent back. */
    waiting: PieceLine[];
    scheduled: PieceLine[];
    aired: PieceLine[];
    drafts: PieceLine[];
    /** Facts cited on air that were corrected, or whose sources do not support them. */
    revise: ReviseLine[];
    /** Problems of the desk that need attention. */
    wrong: { text: string; path: string | null }[];
    /** What agents did, and what was refused to them; null for seats that may not see it. */
    agents: { done: ActivityView[]; refused: ActivityView[] } | null;
  };
  '/console/pieces': ConsoleShell & {
    rows: PieceLine[];
    /** How many pieces are in each state. */
    counts: Record<StateName, number>;
    /** The filters of the list. */
    asked: Record<'q' | 'state' | 'review' | 'section' | 'persona' | 'by' | 'language', string>;
    sections: string[];
    personas: { slug: string; name: string }[];
    /** Keys that file. */
    keys: { id: string; name: string }[];
    older: string | null;
  };
  '/console/piece': ConsoleShell & {
    piece: PieceLine & { dek: string; slug: string; revision: number; url: string | null; reason: string | null };
    facts: FactLine[];
    /** The problems that the filing door would report if the piece went on air now. */
    problems: { field: string; message: string }[];
    history: HistoryLine[];
    receipts: { revision: number; seq: number; kid: string; filed_at: string; receipt: string }[];
    /** Whether heads of the log cover the newest receipt, in words. */
    log: string;
    proof_url: string;
    zones: readonly string[];
  };
  '/console/agents': ConsoleShell & {
    terms: { version: string; text: string; signed: boolean; signed_at: string | null; signed_by: string | null };
    keys: KeyLine[];
    personas: { slug: string; name: string }[];
    /** The id of the key of this session. */
    own: string;
  };
  '/console/readers': ConsoleShell & {
    /** Null for a seat that may only see counts. */
    readers: ReaderLine[] | null;
    total: number;
    confirmed: number;
    days: { day: string; confirmed: number; left: number; total: number }[];
    asked: { q: string; state: string };
    older: string | null;
  };
  '/console/reader': ConsoleShell & {
    reader: {
      email: string;
      subscriber: (ReaderLine & { made_at: string }) | null;
      suppression: { reason: string; at: string } | null;
      mails: { kind: string; about: string; state: string; attempts: number; at: string }[];
    };
  };
  '/console/webhooks': ConsoleShell & {
    webhooks: {
      id: string;
      url: string;
      sections: string[];
      cast: boolean;
      failing_since: string | null;
      off_at: string | null;
      off_reason: string | null;
      paused_at: string | null;
      succeeded_at: string | null;
      failed_at: string | null;
      waiting: number;
    }[];
    sections: string[];
    deliveries: {
      id: string;
      type: string;
      webhook: { id: string; host: string; of: string };
      state: string;
      made_at: string;
      attempts: { at: string; status: number | null; error: string | null }[];
      next_attempt_at: string | null;
    }[];
    asked: { state: string; webhook: string };
    older: string | null;
  };
  '/console/counts': ConsoleShell & {
    counts: {
      /** Whether the operator has enabled counting of reads. */
      counting: boolean;
      days: { day: string; reads: number }[];
      kinds: { kind: string; reads: number }[];
      pages: { kind: string; id: string; title: string | null; reads: number }[];
    };
  };
  '/console/activity': ConsoleShell & {
    rows: ActivityView[];
    keys: KeyLine[];
    actions: readonly string[];
    asked: Record<string, string>;
    older: string | null;
  };
  '/console/sessions': ConsoleShell & {
    /** All sessions of the paper for an admin; for others, those of their seat. */
    sessions: (ReturnType<typeof sessionRow> & { is_this: boolean; is_own: boolean })[];
    /** The passkeys of the seat. */
    passkeys: { id: string; name: string; host: string; made_at: string; used_at: string | null }[];
    has_passkeys: boolean;
  };
  '/console/authorize': ConsoleShell & {
    /** The name that it gives itself; `known` is the host that describes it, null for a client that registered itself. */
    client: { name: string; known: string | null };
    /** Where the response is sent, in words. */
    leads: string;
    scopes: readonly Scope[];
    isReader: boolean;
    personas: { slug: string; name: string }[];
    /** The original request. */
    asked: string;
  };
  '/console/changes': ConsoleShell & {
    piece: { id: string; headline: string; language: string };
    revisions: number[];
    from: number;
    to: number;
    /** The members that differ. */
    changes: { name: string; segments: Segment[] }[];
  };
}

/** A piece in a list of the console. */
export interface PieceLine {
  id: string;
  /** A notice if the headline is withheld. */
  headline: string;
  language: string;
  state: StateName;
  section: string;
  persona: string;
  /** Who filed its newest revision, in words. */
  by: string;
  /** When it went on air or will, was withdrawn, or was filed; ISO 8601. */
  at: string;
  /** Whether a person must approve its newest revision, or has approved it. */
  review: ReviewRow;
}

/** A cited fact, with the sentences that cite it. */
export interface FactLine {
  number: number;
  statement: string;
  source: string;
  instrument: string | null;
  /** Its key in the fact record, and what became of the fact since the piece was filed. */
  record: Pick<Citation, 'claim_key' | 'since'> | null;
  /** If it has no key: the key of a recorded fact that says nearly the same. */
  like: string | null;
  sentences: string[];
}

/** A line in the history of a piece. */
export interface HistoryLine {
  at: string;
  text: string;
  by: string;
  /** The revision that a filing made. */
  revision: number | null;
  note: string | null;
}

/** The members that every page of the console has. */
export interface ConsoleShell {
  frame: ConsoleFrame;
}

export interface ConsoleFrame {
  title: string;
  /** The URL of the console, with its slash. */
  root: string;
  /** The path of the page below `root`; empty for the first page. */
  path: string;
  paper: { nameplate: string; language: string; hue: number; typefaces: Typefaces; url: string };
  seat: { name: string; level: Level };
  /** Sent with every form: a token of the session, and a value that identifies repeated requests. */
  form: { token: string; once: string };
  /** The outcome of the action that led here. */
  notice: Notice | null;
}

/** A button that makes one change: a form without visible fields. */
export interface Button {
  /** Path below the console. */
  action: string;
  label: string;
  fields?: Record<string, string>;
}

/** The result of an action, or why it did nothing. */
export interface Notice {
  kind: 'done' | 'refused';
  text: string;
  /** The problems of a refused request, by field. */
  problems?: { field: string; message: string }[];
  /** Whether the page previews `given`. */
  isDraft?: boolean;
  /** The field that `text` is about. */
  field?: string;
  /** Members of a record before and after a change. */
  changed?: Changed[];
  /** Undoes what was done. */
  undo?: Button;
  /** A text that is shown only once, such as a new key. */
  secret?: { label: string; text: string };
  /** The path of the rejected form, and its fields, which the page shows again. */
  action?: string;
  given?: Record<string, string>;
}

interface Filings {
  filed: number;
  refused: number;
}

/** A key or seat, as listed by the API. */
export interface KeyLine {
  id: string;
  name: string;
  level: Level;
  seat: string | null;
  persona: string | null;
  state: string;
  made_at: string;
  expires_at: string | null;
  used_at: string | null;
  revoked_at: string | null;
  work: { filed: number; refused: number; last_at: string | null };
  /** How much it filed, and how much was refused, in the last hour and day. */
  rate: { hour: Filings; day: Filings };
}

/** A reader, as the API lists them for admins. */
export interface ReaderLine {
  email: string;
  confirmed_at: string | null;
  cadence: string;
  sections: string[];
  cast: boolean;
  last_sent_at: string | null;
}

/** A row of the activity log, in words. */
export interface ActivityView {
  at: string;
  who: string;
  did: string;
  /** The subject, and its page below the console. */
  name: string | null;
  path: string | null;
  detail: string;
  is_refused: boolean;
  /** Through which interface, and from which network. */
  from: string;
}

/** A row of the activity log, as listed by the API. */
export interface ActivityLine {
  id: string;
  at: string;
  who: { id: string; name: string | null; level: string | null };
  action: string;
  outcome: 'done' | 'refused';
  subject: { kind: string; id: string | null; slug: string | null; title: string | null } | null;
  from: { way: string; network: string | null };
  detail: Record<string, unknown>;
}
