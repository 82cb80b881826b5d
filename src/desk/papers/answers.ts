import { DAY } from '../../proof/time.ts';

/** The stored response to a write. `request` is the hash of the request. */
interface StoredAnswer {
  request: string;
  status: number;
  /** The response body, as JSON. */
  body: string;
}

/** Responses by the caller's key and its `Idempotency-Key`. */
export interface AnswerTable {
  get(key: string, name: string, since: number): StoredAnswer | null;
  put(key: string, name: string, answer: StoredAnswer, at: number): void;
  /** Deletes responses stored at or before a time. */
  deleteUntil(until: number): void;
}

/** How long a response is kept, in ms (protocol 8.6). */
export const ANSWER_TTL = DAY;
