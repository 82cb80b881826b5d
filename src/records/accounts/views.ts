import type { Expectation, PlannedValue } from '../expectations.ts';
import type { creditRow } from '../meter/credits.ts';
import type { Limits, PlanRow } from '../meter/plan.ts';
import type { planReceipt } from '../meter/plan-order.ts';
import type { Usage } from '../meter/usage.ts';
import type { ChangeView, RecordsFrame } from '../views.ts';
import type { accountMailRow } from './account-mail.ts';
import type { AlertFormat } from './alert-body.ts';
import type { Answer } from './answer.ts';
import type { AlertState, AlertWay, alertDeliveryRow } from './change-alert.ts';
import type { FirstSteps } from './first-steps.ts';
import type { eventRow, OwnedRow } from './owner-row.ts';
import type { serviceKeyRow } from './service-key.ts';
import type { UsageChart } from './usage-chart.ts';
import type { HostOutcome, TakenOutcome } from './watching.ts';

/** The view of each account page, by its route, like src/records/views.ts for the public pages. */
export interface AccountPages {
  '/account/sign-in': AccountShell & {
    asked: string;
    /** Why the opened link no longer works; null when no link was opened. */
    ended: string | null;
    problem: string | null;
    sent: boolean;
    /** What the previous action was: signing out, or deleting the account. */
    done: string | null;
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
    /** The first steps, while they are shown. */
    steps: FirstSteps | null;
    /** A key that was just created as the first step; shown once. */
    made: { name: string; key: string } | null;
    problem: FormProblem | null;
    /** Requests of the last days. */
    chart: UsageChart;
    /** The newest changes in the account's groups. */
    changes: ChangeView[];
  };
  '/account/sessions': AccountShell & {
    sessions: { id: string; made_at: string; seen_at: string; browser: string | null; is_this: boolean }[];
  };
  '/account/keys': AccountShell & {
    keys: ReturnType<typeof serviceKeyRow>[];
    /** A key that was just created, which is shown once. */
    made: { name: string; key: string } | null;
    problem: FormProblem | null;
    /** The values of the rejected form. */
    given: { name: string; expires_on: string };
    most: number;
    /** A command with the new key, ready to run. */
    command: string;
  };
  '/account/usage': AccountShell & {
    usage: Usage;
    outcomes: UsageChart;
    keys: UsageChart;
    /** The time spans offered, in days, and the selected one. */
    spans: readonly number[];
    span: number;
    /** The meter headers that the next response would have. */
    headers: [name: string, value: string][];
  };
  '/account/credits': AccountShell & {
    balance: number;
    cost_per_request: number;
    /** `is_open` while the line's day is not over. */
    entries: (Omit<ReturnType<typeof creditRow>, 'seq'> & { is_open: boolean })[];
    are_sold: boolean;
    older_url: string | null;
    /** The account's limits now, and the plan in force; null for none. */
    limits: Limits;
    plan: { name: string; ends_at: string; is_last_week: boolean } | null;
    plans: PlanRow[];
    receipts: PlanReceipt[];
  };
  '/account/plan': AccountShell & {
    plan: PlanRow;
    /**
     * When the plan would end if it were bought now, and how much of that time comes from the rest of the current plan.
     */
    ends_at: string;
    carried_seconds: number;
    /** The plan in force; null for none. */
    held: { name: string; ends_at: string } | null;
    /** What to pay and how to sign it, as JSON for the page's script; null while plans are not sold. */
    offer: string | null;
    pay_to: string | null;
    network: string | null;
    problem: string | null;
    /** The payment of the rejected form. */
    given: string;
  };
  '/account/receipt': AccountShell & { receipt: PlanReceipt; network: string };
  '/account/groups': AccountShell &
    Room & {
      groups: { id: string; name: string; hosts: number; alerts: number; changed_at: string | null; made_at: string }[];
      problem: FormProblem | null;
      given: { name: string; hostnames: string };
    };
  '/account/group': AccountShell &
    Room & {
      group: { id: string; name: string };
      /** The address of its private feed; null for none. */
      feed_url: string | null;
      alerts: number;
      hosts: {
        hostname: string;
        unicode: string;
        added_at: string;
        looked_at: string | null;
        changed_at: string | null;
        /** The signal that changed last, as a label. */
        changed: string | null;
        /** Why the hostname is not observed, in words; null if it is observed. */
        left_alone: string | null;
        url: string;
      }[];
      /** The outcomes of the submitted hostnames; empty when no form was submitted. */
      outcomes: (HostOutcome | TakenOutcome)[];
      problem: FormProblem | null;
      /** The values of the rejected form; of a partly accepted form, only what was refused. */
      given: { name: string; hostnames: string };
    };
  '/account/group-changes': AccountShell & {
    group: { id: string; name: string };
    hosts: number;
    changes: ChangeView[];
    older_url: string | null;
  };
  '/account/names': AccountShell & {
    names: OwnedRow[];
    problem: FormProblem | null;
    given: { hostname: string };
  };
  '/account/name': AccountShell & {
    name: OwnedRow;
    /** The name, and the hostnames below it that are or were watched, in the account's groups. */
    hosts: {
      hostname: string;
      unicode: string;
      state: 'watched' | 'paused' | 'opted_out';
      looked_at: string | null;
      looks_left: number;
    }[];
    /** The newest changes of those hostnames, with the account's own note; empty until the name is proven. */
    changes: (ChangeView & { own_note: string })[];
    /** Newest first. */
    events: ReturnType<typeof eventRow>[];
    problem: FormProblem | null;
    /** The rejected note. */
    given: { seq: number; note: string } | null;
  };
  '/account/alerts': AccountShell & {
    alerts: AlertRow[];
    groups: { id: string; name: string }[];
    problem: FormProblem | null;
    /** The values of the rejected form. */
    given: { group: string; hostname: string; way: string; url: string; format: string; routing_key: string };
  };
  '/account/alert': AccountShell & {
    alert: AlertRow & { url: string | null };
    /** A secret that was just created, which is shown once. */
    secret: string | null;
    /** The deliveries of a webhook, newest first. */
    deliveries: ReturnType<typeof alertDeliveryRow>[];
    /** For a mail alert: the account's mails of changes and tests, newest first. */
    mails: ReturnType<typeof accountMailRow>[];
  };
  '/account/expectations': AccountShell & {
    /** Values and rules in words. */
    rows: {
      hostname: string;
      signal: string;
      expected: string;
      state: Expectation['state'];
      since: string | null;
      seen: string | null;
    }[];
    plans: {
      id: string;
      from: string;
      until: string;
      note: string;
      items: {
        hostname: string;
        signal: string;
        expected: string;
        state: PlannedValue['state'];
        /** The page that verifies the completed change. */
        proof: string | null;
      }[];
    }[];
    /** Newest first. */
    events: { seq: number; at: string; line: string; kind: string; url: string }[];
    has_alert: boolean;
    /** The document in YAML: the rejected one after a rejected form, else the stored one. */
    given: string;
    problems: { field: string; message: string }[];
    /** The form that announces a change: with the rejected values, or empty. */
    planning: {
      given: { hostname: string; signal: string; values: string; hours: string; note: string };
      problem: FormProblem | null;
      signals: { signal: string; label: string }[];
      hours: { hours: string; label: string }[];
      /** The names of the account's groups, to choose from. */
      hostnames: string[];
    };
  };
  '/account/data': AccountShell & {
    /** What is deleted with the account. */
    held: { keys: number; sessions: number; groups: number; hosts: number; alerts: number; credits: number };
    problem: string | null;
    given: string;
  };
  '/account/unsubscribe': AccountShell & { address: string; account: string; token: string; done: boolean };
}

type PlanReceipt = ReturnType<typeof planReceipt>;

export interface AccountShell {
  frame: RecordsFrame;
  /** The signed-in address; null when signed out. */
  email: string | null;
  /** The token for the field `form` of every form. */
  form: string;
  /** The result of the form that led to this page. */
  answer: Answer | null;
}

/** Why a form was rejected, and the field at fault; null for the form as a whole. */
export interface FormProblem {
  field: string | null;
  text: string;
}

/** How many hostnames are in groups, how many left their groups but are still probed, and the cap for both together. */
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
  format: AlertFormat;
  made_at: string;
  paused_at: string | null;
  off_at: string | null;
  off_reason: AlertState['off_reason'];
  failing_since: string | null;
}
