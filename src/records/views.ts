/**
 * What each public page of the domain records is given: everything it shows,
 * ready to print. Pages hold markup only; they import these types and nothing
 * else. Every `url` is a path from the host's root unless its name says absolute.
 */

/** What every page of the domain records has around its own matter. */
export interface RecordsFrame {
  /** Public address of the service, without a slash at its end. */
  root_absolute: string;
  canonical_absolute: string;
  /** Text of `<title>`. */
  title: string;
  description: string;
  noindex: boolean;
  /** Whether the reader is signed in, by a mail address. */
  signed_in: string | null;
  /** Where the operator is written to; null where no setting says it. */
  contact: { url: string; text: string } | null;
}

/** A refusal, for people. */
export interface FaultView {
  frame: RecordsFrame;
  heading: string;
  /** What was wrong, and what to do. */
  message: string;
  ways: { url: string; text: string }[];
}

/** A change, ready to print. */
export interface ChangeView {
  seq: number;
  /** ISO 8601. */
  at: string;
  /** In A-labels, and with its Unicode labels. */
  domain: string;
  unicode: string;
  url: string;
  /** `A`, `www A`, `certificate`… */
  signal: string;
  kind: 'added' | 'removed' | 'changed';
  /** Values that are there no more, and those that came; shortened. */
  lost: string[];
  gained: string[];
  /** How many more of each there are than are named. */
  more_lost: number;
  more_gained: number;
}

/** A day and how many changes it had. */
export interface DayBar {
  /** YYYY-MM-DD. */
  day: string;
  count: number;
}

/** The first of a list, and how many the list has. */
export interface TopList {
  name: string;
  /** What an account shows of it. */
  about: string;
  items: { text: string; detail: string; url: string | null }[];
  total: number;
  /** Where the whole list is. */
  all_url: string;
}

export interface LandingView {
  frame: RecordsFrame;
  totals: { watched: number; paused: number; observations: number; changes: number; changes_today: number };
  /** ISO 8601; null before the first look. */
  last_look_at: string | null;
  tape: { seq: number; at: string; domain: string; url: string; kind: string; line: string }[];
  lists: TopList[];
  /** Oldest first, without gaps. */
  days: DayBar[];
  /** A hostname for the examples. */
  example: string;
}

export interface ChangesView {
  frame: RecordsFrame;
  day: string;
  is_today: boolean;
  total: number;
  /** By signal, the most changes first. */
  counts: { signal: string; added: number; removed: number; changed: number; total: number }[];
  items: ChangeView[];
  /** Addresses of the days beside it and of the next page; null where there is none. */
  earlier: string | null;
  later: string | null;
  next: string | null;
  /** Whether this is not the day's first page. */
  is_continued: boolean;
  /** The last days up to today, oldest first. */
  days: DayBar[];
}

/** One signal of a full record. */
export interface SignalView {
  name: string;
  status: string;
  is_known: boolean;
  ttl: string;
  values: string[];
  via: string;
}

export interface TimeMachineView {
  frame: RecordsFrame;
  domain: string;
  unicode: string;
  registrable_domain: string | null;
  is_paused: boolean;
  /** ISO 8601. */
  added_at: string;
  /** The date or time that was asked for, as it was written; null for the latest. */
  as_of: string | null;
  /** Days, YYYY-MM-DD, between which one can be picked. */
  first_day: string | null;
  today: string;
  /** Null when there is none, or none by then. */
  observation: ObservationView | null;
  /** ISO 8601: when it was first observed, where nothing was by then. */
  first_observed_at: string | null;
  observations: number;
  /** Changes of the domain: all of them for who is signed in, else the newest three. */
  changes: { items: ChangeView[]; total: number; next: string | null };
  /** When it changed, for the time line: shares of the width from the first look (0) to now (1). */
  ticks: number[];
  /** Every value that was seen; null for who is not signed in. */
  history: { items: ValueView[]; total: number } | null;
  badge_url: string;
  provenance_url: string;
}

/** A value and when it was seen. */
export interface ValueView {
  signal: string;
  value: string;
  /** ISO 8601. */
  first_seen: string;
  last_seen: string;
  count: number;
}

export interface ObservationView {
  seq: number;
  /** ISO 8601. */
  observed_at: string;
  nameservers: string[];
  /** Number of values by type, types that have some first. */
  summary: { name: string; count: number }[];
  held_back: { fields: number; how: string };
  notice: string;
  receipt: string;
  /** The body that the checks read, as JSON that is safe inside a script element. */
  preview_json: string;
  /** An address with the look before this one; null for the first. */
  earlier: string | null;
  /** Null for who is not signed in. */
  full: FullView | null;
}

export interface FullView {
  signals: SignalView[];
  certificate: {
    issuer: string;
    subject: string;
    not_before: string;
    not_after: string;
    fingerprint: string;
    names: string[];
  } | null;
  certificate_status: string;
  services: { service: string; kind: string; seen_in: string }[];
  wildcard: string;
}
