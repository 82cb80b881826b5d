import type { Plan } from '../meter/plan.ts';

/** An account of the domain records; its keys read them. */
export interface Account {
  /** A lower-case ULID. */
  id: string;
  /** In lower case; one account each. */
  email: string;
  plan: Plan;
  /** Ms. */
  made_at: number;
}

export interface AccountTable {
  /** The account of an address, made with this id when there is none. */
  ofEmail(email: string, fresh: Omit<Account, 'email'>): Account;
  find(id: string): Account | null;
  byEmail(email: string): Account | null;
  setPlan(id: string, plan: Plan): void;
  /** Removes an account with its keys, sessions, groups, alerts and mails. */
  remove(id: string): void;
}
