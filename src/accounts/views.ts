import type { Usage } from '../meter/usage.ts';
import type { RecordsFrame } from '../records/views.ts';
import type { serviceKeyRow } from './service-key.ts';
import type { HostOutcome } from './watch-group.ts';

/**
 * What each page of an account is given, as src/records/views.ts has it for the
 * public pages. Times are in ISO 8601.
 */

/** The routes of the pages, and what each one is given. */
export interface AccountPages {
  '/account/sign-in': SignInView;
  '/account/enter': EnterView;
  '/account/overview': OverviewView;
  '/account/keys': KeysView;
  '/account/usage': UsageView;
  '/account/credits': CreditsView;
  '/account/groups': GroupsView;
  '/account/group': GroupView;
  '/account/alerts': AlertsView;
  '/account/alert': AlertView;
  '/account/data': OwnDataView;
  '/account/unsubscribe': UnsubscribeView;
}

/** What stands around every page of an account. */
export interface AccountShell {
  frame: RecordsFrame;
  /** Who is signed in; null when nobody is. */
  email: string | null;
  /** What every form carries in its field `form`. */
  form: string;
}

export interface SignInView extends AccountShell {
  /** What was asked with. */
  asked: string;
  /** Why the link that was opened does not do it; null where none was. */
  ended: string | null;
  problem: string | null;
  /** Whether a mail is on its way, as far as anybody is told. */
  sent: boolean;
}

export interface EnterView extends AccountShell {
  token: string;
  /** Whom the button signs in. */
  address: string;
}

export interface OverviewView extends AccountShell {
  made_at: string;
  usage: Usage;
  keys: number;
  groups: number;
  watched: number;
  /** How many hostnames the plan has room for. */
  cap: number;
  alerts: number;
  sessions: { id: string; made_at: string; seen_at: string; is_this: boolean }[];
}

export type KeyRow = ReturnType<typeof serviceKeyRow>;

export interface KeysView extends AccountShell {
  keys: KeyRow[];
  /** A key that was just made, this one time. */
  made: { name: string; key: string } | null;
  problem: string | null;
  /** How many keys in force there may be. */
  most: number;
  /** A call with the key, as a shell has it. */
  example: string;
}

export interface UsageView extends AccountShell {
  usage: Usage;
  /** Bars of the chart, oldest first: heights of 0 to 100 for each part of a day's requests. */
  bars: { day: string; title: string; included: number; drawn: number; refused: number }[];
  /** What stands at the chart's top. */
  scale: number;
}

export interface CreditsView extends AccountShell {
  balance: number;
  cost_per_request: number;
  entries: {
    /** Whether it is of today and grows on. */
    is_open: boolean;
    at: string;
    kind: string;
    amount: number;
    balance: number;
    day: string | null;
    note: string | null;
  }[];
  /** Whether they are sold for payments (x402). */
  are_sold: boolean;
  /** Where older lines are, or null. */
  older_url: string | null;
}

export interface GroupsView extends AccountShell {
  groups: { id: string; name: string; hosts: number; made_at: string }[];
  watched: number;
  cap: number;
  problem: string | null;
}

export interface GroupView extends AccountShell {
  group: { id: string; name: string };
  hosts: { hostname: string; unicode: string; added_at: string; looked_at: string | null; url: string }[];
  watched: number;
  cap: number;
  /** What became of those that were just given; empty when none were. */
  outcomes: HostOutcome[];
  problem: string | null;
}

export interface AlertRow {
  id: string;
  /** What it is of: the group's name, or the hostname. */
  of: string;
  is_group: boolean;
  way: 'instant' | 'daily' | 'webhook';
  /** A webhook's host; null for mails. */
  host: string | null;
  made_at: string;
  off_at: string | null;
  off_reason: string | null;
  failing_since: string | null;
}

export interface AlertsView extends AccountShell {
  alerts: AlertRow[];
  groups: { id: string; name: string }[];
  problem: string | null;
  /** What was given in the form that was refused. */
  given: { group: string; hostname: string; way: string; url: string };
}

export interface AlertView extends AccountShell {
  alert: AlertRow & { url: string | null };
  /** A webhook's secret, this one time. */
  secret: string | null;
  deliveries: {
    id: string;
    type: string;
    state: string;
    made_at: string;
    due_at: string;
    attempts: { at: string; ms: number; outcome: string }[];
  }[];
}

export interface OwnDataView extends AccountShell {
  problem: string | null;
}

export interface UnsubscribeView extends AccountShell {
  address: string;
  account: string;
  token: string;
  done: boolean;
}
