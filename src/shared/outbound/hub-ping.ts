import { RETRIES } from './retry.ts';

/** A changed feed that one process has leased, to notify the hub. */
export interface HubPing {
  paper: string;
  /** Path of the feed under the paper's root. */
  path: string;
  /** The number of its changes so far. */
  change: number;
  /** The number of earlier attempts. */
  tries: number;
}

/** The queue of pings. Times in ms. Every feed is in it at most once, however often it changed. */
export interface HubPings {
  /** Claims due pings until `lease`, the most overdue first. */
  lease(now: number, lease: number, limit: number): HubPing[];
  /** Removes a ping, unless its feed has changed again. */
  settle(ping: HubPing): void;
  /** Puts a ping off until `due_at`, unless its feed has changed again. */
  retry(ping: HubPing, due_at: number): void;
}

/**
 * The form with which a publisher tells a hub that a topic has new content. W3C WebSub (section 6) leaves it to hubs;
 * they read the topic from `hub.url`, as in PubSubHubbub 0.4, or from `hub.topic`.
 */
export function pingForm(topic: string): string {
  return new URLSearchParams([
    ['hub.mode', 'publish'],
    ['hub.url', topic],
    ['hub.topic', topic],
  ]).toString();
}

/** When a ping is repeated after a failed attempt that ended at `now`; null when it is given up. */
export function pingRetryAt({ tries }: HubPing, now: number): number | null {
  const wait = RETRIES[tries];
  return wait === undefined ? null : now + wait;
}
