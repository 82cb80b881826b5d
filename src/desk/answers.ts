import { DAY } from '../time.ts';
/** What a write answered. `request` is the hash of what was asked. */
export interface StoredAnswer {
  request: string;
  status: number;
  /** The answer's body, as JSON. */
  body: string;
}

/** Answers under a caller's key and the name (`Idempotency-Key`) that the caller gave the write. */
export interface AnswerTable {
  get(key: string, name: string, since: number): StoredAnswer | null;
  put(key: string, name: string, answer: StoredAnswer, at: number): void;
  /** Drops what was answered at or before a time. */
  deleteUntil(until: number): void;
}

/** For how long an answer is kept, in ms (wire.md, "Writes"). */
export const ANSWER_TTL = DAY;
