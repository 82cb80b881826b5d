import type { Plan } from '../meter/account-usage.ts';

export interface Account {
  /** A lower-case ULID. */
  id: string;
  /** In lower case, unique. */
  email: string;
  plan: Plan;
  /** In ms. */
  made_at: number;
}

export interface AccountTable {
  /** The account of an address. Creates it with this id if it does not exist. */
  ofEmail(email: string, fresh: Omit<Account, 'email'>): Account;
  find(id: string): Account | null;
  byEmail(email: string): Account | null;
  setPlan(id: string, plan: Plan): void;
  /** Removes an account with its keys, sessions, groups, alerts and mails. */
  remove(id: string): void;
}
