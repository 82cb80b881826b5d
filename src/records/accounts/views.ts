import type { creditRow } from '../meter/credits.ts';
import type { Usage } from '../meter/usage.ts';
import type { RecordsFrame } from '../views.ts';
import type { AlertState, AlertWay, alertDeliveryRow } from './change-alert.ts';
import type { serviceKeyRow } from './service-key.ts';
import type { HostOutcome } from './watching.ts';

/** The view of each account page, by its route, like src/records/views.ts for the public pages. */
export interface AccountPages {
  '/account/sign-in': AccountShell & {
    asked: string;
    /** Why the opened link does not work; null when no link was opened. */
    ended: string | null;
    problem: string | null;
    sent: boolean;
  };
  '/account/enter': AccountShell & { token: string; address: string };
  '/account/overview': AccountShell & {
    made_at: string;
    usage: Usage;
    keys: number;
    groups: number;
    watched: number;
    cap: number;
    alerts: number;
    sessions: { id: string; made_at: string; seen_at: string; is_this: boolean }[];
  };
  '/account/keys': AccountShell & {
    keys: ReturnType<typeof serviceKeyRow>[];
    /** A key that was just created, which is shown once. */
    made: { name: string; key: string } | null;
    problem: string | null;
    most: number;
    example: string;
  };
  '/account/usage': AccountShell & {
    usage: Usage;
    /** Bars of the chart, oldest first, with heights of 0 to 100 for each part of a day's requests. */
    bars: { day: string; title: string; included: number; drawn: number; refused: number }[];
    scale: number;
  };
  '/account/credits': AccountShell & {
    balance: number;
    cost_per_request: number;
    /** `is_open` while the day is not over. */
    entries: (Omit<ReturnType<typeof creditRow>, 'seq'> & { is_open: boolean })[];
    are_sold: boolean;
    older_url: string | null;
  };
  '/account/groups': AccountShell &
    Room & { groups: { id: string; name: string; hosts: number; made_at: string }[]; problem: string | null };
  '/account/group': AccountShell &
    Room & {
      group: { id: string; name: string };
      hosts: { hostname: string; unicode: string; added_at: string; looked_at: string | null; url: string }[];
      /** Of the hostnames in the form; empty when none was sent. */
      outcomes: HostOutcome[];
      problem: string | null;
    };
  '/account/alerts': AccountShell & {
    alerts: AlertRow[];
    groups: { id: string; name: string }[];
    problem: string | null;
    /** The values of the rejected form. */
    given: { group: string; hostname: string; way: string; url: string };
  };
  '/account/alert': AccountShell & {
    alert: AlertRow & { url: string | null };
    secret: string | null;
    deliveries: ReturnType<typeof alertDeliveryRow>[];
  };
  '/account/data': AccountShell & { problem: string | null };
  '/account/unsubscribe': AccountShell & { address: string; account: string; token: string; done: boolean };
}

export interface AccountShell {
  frame: RecordsFrame;
  /** The signed-in address; null when signed out. */
  email: string | null;
  /** The token for the field `form` of every form. */
  form: string;
}

/** How many hostnames are in groups, were taken out and are still probed, and fit in all. */
interface Room {
  watched: number;
  lingering: number;
  cap: number;
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
