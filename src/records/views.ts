import type { Preview } from '../proof/records/preview.ts';
import type { Certificate } from '../proof/records/signal.ts';

/**
 * Everything that a page shows, ready to print. Pages import only these types. Every `url` is a path from the host's
 * root unless its name ends in `absolute`. Times are in ISO 8601.
 */

export interface RecordsFrame {
  /** The public address of the service, without a trailing slash. */
  root_absolute: string;
  canonical_absolute: string;
  title: string;
  description: string;
  noindex: boolean;
  signed_in: string | null;
  /** How to reach the operator; null when CONTACT is not set. */
  contact: { url: string; text: string } | null;
  /** Whether all records are invented (`broadsheet demo records`). */
  is_demonstration: boolean;
}

export interface FaultView {
  frame: RecordsFrame;
  heading: string;
  message: string;
  ways: { url: string; text: string }[];
}

export interface ChangeView {
  seq: number;
  at: string;
  /** In A-labels, and with its Unicode labels. */
  domain: string;
  unicode: string;
  url: string;
  /** `A`, `www A`, `certificate`… */
  signal: string;
  kind: 'added' | 'removed' | 'changed';
  lost: string[];
  gained: string[];
  /** How many more values of each kind are not listed. */
  more_lost: number;
  more_gained: number;
}

export interface DayBar {
  day: string;
  count: number;
}

export interface TopList {
  name: string;
  about: string;
  items: { text: string; detail: string; url: string | null }[];
  total: number;
  /** The address of the whole list; null in an example. */
  all_url: string | null;
}

export interface TapeRow {
  seq: number;
  at: string;
  domain: string;
  url: string | null;
  kind: string;
  /** Starts with the domain. */
  line: string;
}

export interface LandingView {
  frame: RecordsFrame;
  totals: { watched: number; paused: number; observations: number; changes: number; changes_today: number };
  /** ISO 8601; null before the first probe. */
  last_look_at: string | null;
  tape: TapeRow[];
  lists: TopList[];
  /** From the first day with changes, oldest first, without gaps; empty while there are too few days to compare. */
  days: DayBar[];
  example: string;
  /** Of an imagined service, while no hostname is under watch; null from then on. */
  sample: LandingSample | null;
}

export type LandingSample = Pick<LandingView, 'tape' | 'lists' | 'days'>;

export interface ChangesView {
  frame: RecordsFrame;
  day: string;
  is_today: boolean;
  total: number;
  counts: { signal: string; added: number; removed: number; changed: number; total: number }[];
  items: ChangeView[];
  /** The addresses of the neighboring days and of the next page; null where there is none. */
  earlier: string | null;
  later: string | null;
  next: string | null;
  is_continued: boolean;
  days: DayBar[];
}

export interface TimeMachineView {
  frame: RecordsFrame;
  domain: string;
  unicode: string;
  registrable_domain: string | null;
  is_paused: boolean;
  added_at: string;
  /** The requested date or time, as entered; null for the latest. */
  as_of: string | null;
  first_day: string | null;
  today: string;
  /** Null when there is none, or none at the requested time. */
  observation: ObservationView | null;
  /** ISO 8601: when the domain was first observed, if that was later than the requested time. */
  first_observed_at: string | null;
  observations: number;
  /** Changes of the domain: all of them for signed-in readers, else the newest three. */
  changes: { items: ChangeView[]; total: number; next: string | null };
  /** Times of changes for the time line, from the first probe (0) to now (1). */
  ticks: number[];
  /** Every value that was ever seen; null unless signed in. */
  history: { items: ValueView[]; total: number } | null;
  badge_url: string;
  provenance_url: string;
}

export interface ValueView {
  signal: string;
  value: string;
  first_seen: string;
  last_seen: string;
  count: number;
}

interface ObservationView
  extends Pick<Preview, 'seq' | 'observed_at' | 'nameservers' | 'held_back' | 'notice' | 'receipt'> {
  /** The latest time at which it was signed, where a correction of the clock says that `observed_at` is wrong. */
  true_at: string | null;
  /** The number of values by type, types with values first. */
  summary: { name: string; count: number }[];
  /** The preview for the in-browser checks, as JSON that is safe inside a script element. */
  preview_json: string;
  earlier: string | null;
  full: FullView | null;
}

export interface FullView {
  signals: { name: string; status: string; is_known: boolean; ttl: string; values: string[]; via: string }[];
  certificate: (Omit<Certificate, 'fingerprint256' | 'san'> & { fingerprint: string; names: string[] }) | null;
  certificate_status: string;
  services: { service: string; kind: string; seen_in: string }[];
  wildcard: string;
}
