import type { creditRow } from '../meter/credits.ts';
import type { Usage } from '../meter/usage.ts';
import type { RecordsFrame } from '../views.ts';
import type { AlertState, AlertWay, alertDeliveryRow } from './change-alert.ts';
import type { serviceKeyRow } from './service-key.ts';
import type { HostOutcome } from './watching.ts';

/** The view of each account page, by its route, like src/records/views.ts for the public pages. */
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

export interface AccountShell {
  frame: RecordsFrame;
  /** The signed-in address; null when signed out. */
  email: string | null;
  /** The token for the field `form` of every form. */
  form: string;
}

export interface SignInView extends AccountShell {
  asked: string;
  /** Why the opened link does not work; null when no link was opened. */
  ended: string | null;
  problem: string | null;
  sent: boolean;
}

export interface EnterView extends AccountShell {
  token: string;
  address: string;
}

export interface OverviewView extends AccountShell {
  made_at: string;
  usage: Usage;
  keys: number;
  groups: number;
  watched: number;
  cap: number;
  alerts: number;
  sessions: { id: string; made_at: string; seen_at: string; is_this: boolean }[];
}

export type KeyRow = ReturnType<typeof serviceKeyRow>;

export interface KeysView extends AccountShell {
  keys: KeyRow[];
  /** A key that was just created, which is shown once. */
  made: { name: string; key: string } | null;
  problem: string | null;
  most: number;
  example: string;
}

export interface UsageView extends AccountShell {
  usage: Usage;
  /** Bars of the chart, oldest first, with heights of 0 to 100 for each part of a day's requests. */
  bars: { day: string; title: string; included: number; drawn: number; refused: number }[];
  scale: number;
}

export interface CreditsView extends AccountShell {
  balance: number;
  cost_per_request: number;
  /** `is_open` while the day is not over. */
  entries: (Omit<ReturnType<typeof creditRow>, 'seq'> & { is_open: boolean })[];
  are_sold: boolean;
  older_url: string | null;
}

/** How many hostnames are in groups, were taken out and are still probed, and fit in all. */
interface Room {
  watched: number;
  lingering: number;
  cap: number;
}

export interface GroupsView extends AccountShell, Room {
  groups: { id: string; name: string; hosts: number; made_at: string }[];
  problem: string | null;
}

export interface GroupView extends AccountShell, Room {
  group: { id: string; name: string };
  hosts: { hostname: string; unicode: string; added_at: string; looked_at: string | null; url: string }[];
  /** Of the hostnames in the form; empty when none was sent. */
  outcomes: HostOutcome[];
  problem: string | null;
}

export interface AlertRow {
  id: string;
  /** What the alert covers: the group's name, or the hostname. */
  of: string;
  is_group: boolean;
  way: AlertWay;
  host: string | null;
  made_at: string;
  off_at: string | null;
  off_reason: AlertState['off_reason'];
  failing_since: string | null;
}

export interface AlertsView extends AccountShell {
  alerts: AlertRow[];
  groups: { id: string; name: string }[];
  problem: string | null;
  /** The values of the rejected form. */
  given: { group: string; hostname: string; way: string; url: string };
}

export interface AlertView extends AccountShell {
  alert: AlertRow & { url: string | null };
  secret: string | null;
  deliveries: ReturnType<typeof alertDeliveryRow>[];
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
