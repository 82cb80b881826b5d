/** A resolver's address. */
export interface Server {
  address: string;
  port: number;
}

/** An address as text: `192.0.2.1:53`, `[2001:db8::1]:53`. */
export function serverText({ address, port }: Server): string {
  return address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`;
}

/**
 * The outcome of a query: an accepted answer, or why there is none. `mismatch` means that only other messages arrived.
 */
export type Exchange =
  | { outcome: 'answered'; bytes: Uint8Array; ms: number }
  | { outcome: 'timeout' | 'unreachable' | 'mismatch' };

/** Sends one query to a server; `timeout` in ms. Never rejects. Messages that `accepts` declines are ignored. */
export type Send = (
  server: Server,
  query: Uint8Array,
  accepts: (answer: Uint8Array) => boolean,
  timeout: number,
) => Promise<Exchange>;

/** How queries are sent. */
export interface Transport {
  udp: Send;
  tcp: Send;
}
