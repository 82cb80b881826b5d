import type { RecordsFrame } from './views.ts';

/** What the pages of reading and verifying are given, as views.ts has it for the others. */

/** The routes of these pages, and what each one is given. */
export interface ReadingPages {
  '/records/verify': VerifyView;
  '/records/hosts': HostsView;
  '/records/names': NamesView;
  '/records/analytics': AnalyticsView;
  '/records/search': SearchView;
  '/records/docs': DocsView;
}

export interface VerifyView {
  frame: RecordsFrame;
}

/** Where a list ends for this reader. */
export interface ListEnd {
  total: number;
  /** How many more there are than are shown, where an account would show them; 0 where nothing is held back. */
  held_back: number;
  sign_in_url: string;
  /** The address of the next page, for who is signed in; null on the last. */
  next_url: string | null;
}

/** A way to another page. */
export interface Link {
  url: string;
  text: string;
}

/** A list of hostnames: the catalog, or those that have one thing in common. */
export interface HostsView {
  frame: RecordsFrame;
  heading: string;
  lede: string;
  /** Lists that this one is part of, or that are beside it. */
  ways: Link[];
  rows: HostRow[];
  end: ListEnd;
  /** Whether `total` is the least that there are, and not all. */
  at_least: boolean;
}

export interface HostRow {
  domain: string;
  unicode: string;
  url: string;
  /** `watched` or `paused`. */
  state: string;
  /** ISO 8601; null before the first look. */
  observed_at: string | null;
  /** The newest observation. */
  seq: number | null;
}

/** A list of names by how many hostnames have each: services, issuers and the like. */
export interface NamesView {
  frame: RecordsFrame;
  heading: string;
  lede: string;
  ways: Link[];
  /** What a name is, for the head of its column, and what several are. */
  noun: string;
  nouns: string;
  rows: NameRow[];
  end: ListEnd;
}

export interface NameRow {
  name: string;
  /** What sort of thing it is, where the list has several; else null. */
  kind: string | null;
  count: number;
  /** Of all watched hostnames, from 0 to 1. */
  share: number;
  url: string;
}

export interface AnalyticsView {
  frame: RecordsFrame;
  totals: { watched: number; observations: number; changes: number; changes_today: number };
  /** ISO 8601; null before the first look. */
  last_look_at: string | null;
  /** Changes by day, oldest first, without gaps. */
  changes: ColumnChart;
  /** Certificates by the week in which they end. */
  expiry: ColumnChart;
  lists: AnalyticsList[];
}

/** A chart of columns, and all that its table says. */
export interface ColumnChart {
  /** What the parts of a column are, from the bottom up; their classes too. */
  parts: string[];
  columns: { label: string; url: string | null; counts: number[] }[];
  /** The largest column. */
  most: number;
  total: number;
}

/** The names that most hostnames have, and where the rest are. */
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
  /** Null when nothing was asked for. */
  found: FoundGroup[] | null;
  /** What was wrong with the question; null when nothing was. */
  refusal: string | null;
}

/** What a search found of one sort. */
export interface FoundGroup {
  heading: string;
  rows: { text: string; detail: string; url: string }[];
  end: ListEnd;
  /** Whether `total` is the least that there are, and not all. */
  at_least: boolean;
}

export interface DocsView {
  frame: RecordsFrame;
  /** A watched hostname for the examples. */
  example: string;
  limits: {
    /** What one address may do without a key, in words. */
    by_address: { what: string; limit: string }[];
    keyless_daily: number;
    keyless_seconds: number;
    keyed_daily: number;
    keyed_per_minute: number;
    /** Hostnames that an account may watch, by its plan. */
    watch_daily: number;
    watch_monthly: number;
  };
  /** What a request past the allowance costs, in credits. */
  credits_per_request: number;
  /** How the paid lane is paid, and what each door costs; null while it is closed. */
  paid: { network: string; prices: { path: string; price: string }[]; sells_credits: boolean; repeats: number } | null;
  /** The doors by sort, from the routes themselves. */
  routes: DocsRoutes[];
  /** A receipt and a preview that this service made; null before the first observation. */
  receipt: string | null;
  preview: string | null;
}

export interface DocsRoutes {
  heading: string;
  lane: string;
  rows: { method: string; path: string; summary: string }[];
}
