import type { RecordsFrame } from '../records/views.ts';
import type { AccountMatter } from './account-matter.ts';

/**
 * What each page of an account is given, as src/records/views.ts has it for the
 * public pages. Times are in ISO 8601.
 */

/** The routes of the pages, and what each one is given. */
export interface AccountPages {
  '/account/mail': AccountMailView;
  '/account/sign-in': SignInView;
  '/account/enter': EnterView;
  '/account/overview': OverviewView;
  '/account/keys': KeysView;
}

export type AccountMailView = AccountMatter;

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
  plan: string;
  made_at: string;
  keys: number;
  sessions: { id: string; made_at: string; seen_at: string; is_this: boolean }[];
}

export interface KeyRow {
  id: string;
  name: string;
  made_at: string;
  used_at: string | null;
  revoked_at: string | null;
}

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
