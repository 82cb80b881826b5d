/** A resolver's address. */
export interface Server {
  address: string;
  port: number;
}

/** An address as it is shown: `192.0.2.1:53`, `[2001:db8::1]:53`. */
export function serverText({ address, port }: Server): string {
  return address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`;
}

/** What became of a query: an answer that was taken, or why there is none. `mismatch`: something came, but no answer to it. */
export type Exchange =
  | { outcome: 'answered'; bytes: Uint8Array; ms: number }
  | { outcome: 'timeout' | 'unreachable' | 'mismatch' };

/** Sends one query to a server. Never rejects. Whatever `accepts` does not take is passed over. */
export type Send = (
  server: Server,
  query: Uint8Array,
  accepts: (answer: Uint8Array) => boolean,
  timeout: number,
) => Promise<Exchange>;

/** The network, passed in. */
export interface Transport {
  udp: Send;
  tcp: Send;
}
