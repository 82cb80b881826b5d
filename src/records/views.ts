import type { Preview } from '../proof/records/preview.ts';
import type { ServiceSeen } from '../proof/records/record.ts';
import type { Certificate } from '../proof/records/signal.ts';
import type { LogView } from '../shared/transparency/log-view.ts';
import type { Delta } from './delta.ts';
import type { PlanRow } from './meter/plan.ts';
import type { catalogRow, tapeRow } from './wire-rows.ts';

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
  /** Whether there are public dumps (DUMPS_URL). */
  has_dumps: boolean;
}

type Framed<Content> = { frame: RecordsFrame } & Content;

/** The view of each page, by its route. */
export interface RecordsPages {
  '/records/landing': Framed<{
    totals: { watched: number; paused: number; observations: number; changes: number; changes_today: number };
    /** Null before the first probe. */
    last_look_at: string | null;
    tape: TapeRow[];
    lists: TopList[];
    /** From the first day with changes, oldest first, without gaps; empty while there are too few days to compare. */
    days: DayBar[];
    /** A receipt to verify; null before the first observation, and when the requested hostname has none. */
    receipt: ReceiptView | null;
    /** The hostname that the reader entered, and why there is no receipt of it; null when none was entered. */
    asked: { name: string; refusal: string | null } | null;
    example: string;
    /** Sample data of an imagined service, shown until the first hostname is watched; null afterwards. */
    sample: LandingSample | null;
  }>;
  '/records/time-machine': Framed<TimeMachine>;
  '/records/changes': Framed<{
    day: string;
    is_today: boolean;
    /** The number of changes that match the filter, and of all changes of the day. */
    total: number;
    total_of_day: number;
    filter: ChangeFilter;
    is_filtered: boolean;
    /** The signals and kinds to filter by. */
    signals: { value: string; label: string }[];
    kinds: Delta['kind'][];
    /** All changes of the day by signal; each `url` leads to these changes. */
    counts: SignalCount[];
    groups: ChangeGroup[];
    /** How many changes the page shows. */
    shown: number;
    /** The addresses of the neighboring days and of the next page; null where there is none. */
    earlier: string | null;
    later: string | null;
    next: string | null;
    is_continued: boolean;
    days: DayBar[];
  }>;
  '/records/hosts': Framed<{
    heading: string;
    lede: string;
    ways: Link[];
    rows: HostRow[];
    end: ListEnd;
    /** Whether `total` is a lower bound. */
    at_least: boolean;
    /** The name that all these hosts share, in a list by name; null in the catalog. */
    named: Omit<NameRow, 'url'> | null;
  }>;
  '/records/names': Framed<Names & { lede: string; ways: Link[] }>;
  '/records/analytics': Framed<{
    totals: { watched: number; observations: number; changes: number; changes_today: number };
    /** Null before the first probe. */
    last_look_at: string | null;
    /** Changes by day, oldest first, without gaps. */
    changes: ColumnChart;
    expiry: ColumnChart;
    /** Changes by day of each signal that changed, the most frequent first. */
    signals: { signal: string; counts: number[]; total: number; kinds: Record<Delta['kind'], number> }[];
    lists: AnalyticsList[];
  }>;
  '/records/search': Framed<{
    q: string;
    /** Null without a query. */
    found: FoundGroup[] | null;
    /** The problem with the query; null when it was valid. */
    refusal: string | null;
  }>;
  '/records/docs': Framed<Docs>;
  '/records/pricing': Framed<{
    plans: PlanRow[];
    /** The price of a request beyond the allowance, in credits. */
    credits_per_request: number;
    paid: Docs['paid'];
  }>;
  '/records/dumps': Framed<{
    /** Newest first. */
    days: DumpDay[];
    withheld: string[];
    /** The size of all files, in words. */
    size: string;
    /** How many days of dumps are kept. */
    kept: number;
  }>;
  '/records/log': Framed<{ log: LogView }>;
  '/records/verify': Framed<{
    /** Samples to verify, from the newest observation; null before the first. `json` has the texts by sample id. */
    samples: { domain: string; seq: number; names: { id: string; label: string }[]; json: string } | null;
  }>;
  '/records/fault': Framed<{
    status: number;
    heading: string;
    message: string;
    /** The unwatched hostname, to prefill the search; null for other faults. */
    asked: string | null;
    ways: (Link & { about: string })[];
  }>;
}

export interface Link {
  url: string;
  text: string;
}

export interface ChangeView extends Pick<Delta, 'seq' | 'kind'> {
  /** The page that compares the observation with the previous one. */
  compare_url: string;
  at: string;
  /** In A-labels, and with its Unicode labels. */
  domain: string;
  unicode: string;
  url: string;
  /** `A`, `www A`, `certificate`… */
  signal: string;
  lost: string[];
  gained: string[];
  /** How many more lost and gained values are not listed. */
  more_lost: number;
  more_gained: number;
  /** The note of a proven owner. */
  owner_note: { name: string; text: string } | null;
}

/** Filters as entered; '' for none. Times are HH:MM in UTC, `to` is exclusive. */
export type ChangeFilter = Record<'kind' | 'signal' | 'name' | 'from' | 'to', string>;

export interface SignalMeaning {
  signal: string;
  /** The name of the signal, and what a change of it may mean. */
  title: string;
  meaning: string;
}

export interface SignalCount extends SignalMeaning, Record<Delta['kind'] | 'total', number> {
  url: string;
}

/** Changes of a registrable domain and of the names below it, newest first. */
export interface ChangeGroup {
  domain: string;
  unicode: string;
  url: string;
  items: ChangeView[];
  /** The changes of these names on each of the last 30 days, and a label for their chart. */
  changes: number[];
  changes_label: string;
}

export interface DayBar {
  day: string;
  count: number;
}

export interface DumpDay {
  day: string;
  rows: number;
  /** Why it replaced another dump; null for the first one. */
  why: string | null;
  leaf: number | null;
  /** `url` is a path if this service has the file itself. */
  files: { format: 'parquet' | 'ndjson'; name: string; url: string; bytes: number; size: string; sha256: string }[];
}

export interface TopList {
  name: string;
  about: string;
  /** `days` counts changes per day, or with `level` what exists at the end of each day; null in an example. */
  items: {
    text: string;
    detail: string;
    url: string | null;
    days: { counts: number[]; level: boolean; label: string } | null;
  }[];
  total: number;
  /** The address of the whole list; null in an example. */
  all_url: string | null;
}

/** Its `line` starts with the domain. */
export type TapeRow = Omit<ReturnType<typeof tapeRow>, 'signal'> & {
  url: string | null;
  /** Changes of its domain on each of the last 30 days; null in an example. */
  changes: number[] | null;
};

export type LandingSample = Pick<RecordsPages['/records/landing'], 'tape' | 'lists' | 'days'>;

interface TimeMachine {
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
  /** When the domain was first observed, if that was later than the requested time. */
  first_observed_at: string | null;
  observations: number;
  /** Changes of the domain: all of them for signed-in readers, else the newest three. */
  changes: { items: ChangeView[]; total: number; next: string | null };
  /** Values over time; null before the first observation. */
  timeline: TimelineView | null;
  /** Two moments side by side; null when a reader asked for one. */
  compared: ComparedView | null;
  /** The second date or time, as entered; '' for none. */
  compare: string;
  /** All values ever seen; null unless signed in. */
  history: { items: ValueView[]; total: number } | null;
  badge_url: string;
  provenance_url: string;
}

/** The values and changes from the first observation until now. */
export interface TimelineView {
  rows: { signal: string; value: string; bands: TimelineBand[] }[];
  /** How many rows are not drawn. */
  more: number;
  /**
   * Whether each row is one value. If not, each name server has a row, and rows of other signals show the states
   * between changes.
   */
  of_values: boolean;
  first: string;
  now: string;
  /** The times of the observations shown. */
  moments: string[];
}

interface TimelineBand {
  from: string;
  /** Null while it is still in the answers. */
  to: string | null;
  url: string;
  /** The value, or the state between two changes, in words. */
  label: string;
}

/** Two observations compared, the earlier one first. */
export interface ComparedView {
  before: Moment;
  after: Moment;
  /** The differences. Rows with counts, and the changes in between, have no values for this reader. */
  rows: {
    name: string;
    before: string[];
    after: string[];
    counts: { before: number; after: number; changes: number } | null;
  }[];
  /** The names of what is the same in both. */
  same: string[];
}

interface Moment {
  seq: number;
  observed_at: string;
  url: string;
}

export interface ValueView {
  signal: string;
  value: string;
  first_seen: string;
  last_seen: string;
  count: number;
}

/** The parts of an observation that everyone may see. */
export interface ReceiptView
  extends Pick<
    Preview,
    'domain' | 'unicode' | 'seq' | 'observed_at' | 'nameservers' | 'held_back' | 'notice' | 'receipt'
  > {
  /** The number of values by type, types with values first. */
  summary: { name: string; count: number }[];
  /** The preview for the in-browser checks, as JSON that is safe inside a script element. */
  preview_json: string;
}

interface ObservationView extends ReceiptView {
  /**
   * If a correction of the clock says that `observed_at` is wrong: the latest time at which it can have been signed.
   */
  true_at: string | null;
  earlier: string | null;
  full: FullView | null;
}

export interface FullView {
  signals: { name: string; status: string; is_known: boolean; ttl: string; values: string[]; via: string }[];
  certificate: (Omit<Certificate, 'fingerprint256' | 'san'> & { fingerprint: string; names: string[] }) | null;
  certificate_status: string;
  services: (Omit<ServiceSeen, 'seen_in'> & { seen_in: string })[];
  wildcard: string;
}

export interface ListEnd {
  total: number;
  /** How many more rows signed-in readers would see; 0 when all are shown. */
  held_back: number;
  sign_in_url: string;
  /** The address of the next page, for signed-in readers; null on the last. */
  next_url: string | null;
}

/** How often a host changed. */
export interface HostTrend {
  /** Changes on each of the last 30 days, oldest first. */
  changes: number[];
  /** Its newest change; null before the first. */
  changed: { at: string; signal: string; kind: Delta['kind'] } | null;
}

/** How the number of hosts with a name developed. */
export interface NameTrend {
  /** The number of hosts that had it at the end of each day from `since` to today. */
  counts: number[];
  since: string;
  /** The last of `counts` minus the first. */
  change: number;
  /** The day on which the number last changed; null when no change was recorded. */
  changed_on: string | null;
}

export interface HostRow
  extends HostTrend,
    Pick<ReturnType<typeof catalogRow>, 'domain' | 'unicode' | 'observed_at' | 'seq'> {
  url: string;
  /** `watched` or `paused`. */
  state: string;
}

interface Names {
  heading: string;
  /** What the names are, in the singular for the column and in the plural. */
  noun: string;
  nouns: string;
  rows: NameRow[];
  end: ListEnd;
}

export interface NameRow {
  name: string;
  /** The kind of the name if the list has several kinds; null otherwise. */
  kind: string | null;
  count: number;
  /** The fraction of all watched hostnames, from 0 to 1. */
  share: number;
  url: string;
  trend: NameTrend;
}

/** A column chart and the figures for its table. */
export interface ColumnChart {
  /** The parts of a column from the bottom up, which are also their CSS classes. */
  parts: string[];
  columns: { label: string; url: string | null; counts: number[] }[];
  /** Labels below the chart, by the index of the column. */
  marks: { at: number; label: string }[];
  most: number;
  total: number;
}

export type AnalyticsList = Names & { id: string; about: string; all_url: string };

export interface FoundGroup {
  heading: string;
  rows: { text: string; detail: string; url: string }[];
  end: ListEnd;
  at_least: boolean;
}

/** A request in several languages, as spans with a CSS class for the colour; null for the colour of the text. */
export interface CodeSample {
  name: string;
  /** A sentence that describes the request. */
  about: string;
  /** Its path and query. */
  path: string;
  languages: { name: string; spans: [text: string, colour: string | null][] }[];
}

interface Docs {
  example: string;
  meanings: SignalMeaning[];
  samples: CodeSample[];
  /** Paths with queries for the reader to try. */
  tries: string[];
  limits: {
    /** The limits per address for requests without a key, in words. */
    by_address: { what: string; limit: string }[];
    keyless_daily: number;
    keyless_seconds: number;
    watch_monthly: number;
  };
  plans: PlanRow[];
  /** The price of a request beyond the allowance, in credits. */
  credits_per_request: number;
  /** The network and the prices of the paid lane; null while it is closed. */
  paid: { network: string; prices: { path: string; price: string }[]; sells_credits: boolean; repeats: number } | null;
  operations: { heading: string; lane: string; rows: { method: string; path: string; summary: string }[] }[];
  /** A receipt and a preview from this service; null before the first observation. */
  receipt: string | null;
  preview: string | null;
}
