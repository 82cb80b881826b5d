import type { LogView } from '../shared/transparency/log-view.ts';
import type { ChangesView, FaultView, LandingView, RecordsFrame, TimeMachineView } from './views.ts';

// The views of the pages for reading and verifying. The others are in views.ts.

interface ReadingPages {
  '/records/verify': VerifyView;
  '/records/hosts': HostsView;
  '/records/names': NamesView;
  '/records/analytics': AnalyticsView;
  '/records/search': SearchView;
  '/records/docs': DocsView;
  '/records/log': LogPageView;
}

export interface LogPageView {
  frame: RecordsFrame;
  log: LogView;
}

export interface VerifyView {
  frame: RecordsFrame;
}

export interface ListEnd {
  total: number;
  /** How many further rows only signed-in readers see; 0 when all are shown. */
  held_back: number;
  sign_in_url: string;
  /** The address of the next page, for signed-in readers; null on the last. */
  next_url: string | null;
}

export interface Link {
  url: string;
  text: string;
}

export interface HostsView {
  frame: RecordsFrame;
  heading: string;
  lede: string;
  ways: Link[];
  rows: HostRow[];
  end: ListEnd;
  /** Whether `total` is a lower bound. */
  at_least: boolean;
}

export interface HostRow {
  domain: string;
  unicode: string;
  url: string;
  /** `watched` or `paused`. */
  state: string;
  /** ISO 8601; null before the first probe. */
  observed_at: string | null;
  seq: number | null;
}

export interface NamesView {
  frame: RecordsFrame;
  heading: string;
  lede: string;
  ways: Link[];
  /** What a name is, in the singular for its column and in the plural. */
  noun: string;
  nouns: string;
  rows: NameRow[];
  end: ListEnd;
}

export interface NameRow {
  name: string;
  /** Its kind, where the list has several kinds; null otherwise. */
  kind: string | null;
  count: number;
  /** The share of all watched hostnames, from 0 to 1. */
  share: number;
  url: string;
}

export interface AnalyticsView {
  frame: RecordsFrame;
  totals: { watched: number; observations: number; changes: number; changes_today: number };
  /** ISO 8601; null before the first probe. */
  last_look_at: string | null;
  /** Changes by day, oldest first, without gaps. */
  changes: ColumnChart;
  expiry: ColumnChart;
  lists: AnalyticsList[];
}

/** A column chart, with the figures of its table. */
export interface ColumnChart {
  /** The parts of a column from the bottom up, which are their CSS classes too. */
  parts: string[];
  columns: { label: string; url: string | null; counts: number[] }[];
  most: number;
  total: number;
}

export interface AnalyticsList {
  id: string;
  heading: string;
  about: string;
  noun: string;
  nouns: string;
  rows: NameRow[];
  end: ListEnd;
  all_url: string;
}

export interface SearchView {
  frame: RecordsFrame;
  q: string;
  /** Null without a query. */
  found: FoundGroup[] | null;
  /** The problem with the query; null when it was valid. */
  refusal: string | null;
}

export interface FoundGroup {
  heading: string;
  rows: { text: string; detail: string; url: string }[];
  end: ListEnd;
  at_least: boolean;
}

export interface DocsView {
  frame: RecordsFrame;
  example: string;
  limits: {
    /** The limits per address for requests without a key, in words. */
    by_address: { what: string; limit: string }[];
    keyless_daily: number;
    keyless_seconds: number;
    keyed_daily: number;
    keyed_per_minute: number;
    watch_daily: number;
    watch_monthly: number;
  };
  /** The price of a request beyond the allowance, in credits. */
  credits_per_request: number;
  /** The network and the prices of the paid lane; null while it is closed. */
  paid: { network: string; prices: { path: string; price: string }[]; sells_credits: boolean; repeats: number } | null;
  operations: DocsOperations[];
  /** A receipt and a preview from this service; null before the first observation. */
  receipt: string | null;
  preview: string | null;
}

export interface DocsOperations {
  heading: string;
  lane: string;
  rows: { method: string; path: string; summary: string }[];
}

export interface RecordsPages extends ReadingPages {
  '/records/fault': FaultView;
  '/records/landing': LandingView;
  '/records/time-machine': TimeMachineView;
  '/records/changes': ChangesView;
}
