import ipaddr from 'ipaddr.js';

export interface Limits {
  /** Queries per second; Infinity for no limit. */
  rate: number;
  inFlight: number;
}

/** The number of consecutive timeouts after which a resolver is tried last, and for how long, in ms. */
const SILENCES = 20;
const REST = 10_000;
/** The share of a second's queries that may be sent at once. */
const BURST = 0.02;

/** One resolver, with its limits and its health. The clock and sleep are passed in. */
export class Upstream {
  readonly server: Server;
  readonly text: string;
  readonly #limits: Limits;
  readonly #now: () => number;
  readonly #sleep: (ms: number) => Promise<void>;
  #inFlight = 0;
  readonly #queue: (() => void)[] = [];
  #next = Number.NEGATIVE_INFINITY;
  #silences = 0;
  #restsUntil = Number.NEGATIVE_INFINITY;

  constructor(server: Server, limits: Limits, now: () => number, sleep: (ms: number) => Promise<void>) {
    this.server = server;
    this.text = serverText(server);
    this.#limits = limits;
    this.#now = now;
    this.#sleep = sleep;
  }

  /** Runs work within the limits, first come, first served. */
  async turn<T>(work: () => Promise<T>): Promise<T> {
    if (this.#inFlight >= this.#limits.inFlight) await new Promise<void>((go) => this.#queue.push(go));
    else this.#inFlight++;
    try {
      const wait = this.#paced();
      if (wait > 0) await this.#sleep(wait);
      return await work();
    } finally {
      const next = this.#queue.shift();
      if (next === undefined) this.#inFlight--;
      else next();
    }
  }

  /** Reserves the slot of the next query. Returns how long it must wait, in ms. */
  #paced(): number {
    const { rate } = this.#limits;
    if (rate === Number.POSITIVE_INFINITY) return 0;
    const now = this.#now();
    this.#next = Math.max(this.#next, now - BURST * 1_000) + 1_000 / rate;
    return this.#next - now;
  }

  get isResting(): boolean {
    return this.#now() < this.#restsUntil;
  }

  /** Records whether the resolver replied at all. */
  replied(anything: boolean): void {
    this.#silences = anything ? 0 : this.#silences + 1;
    if (this.#silences < SILENCES) return;
    this.#silences = 0;
    this.#restsUntil = this.#now() + REST;
  }
}

export interface Server {
  address: string;
  port: number;
}

/** An address as text: `192.0.2.1:53`, `[2001:db8::1]:53`. */
export function serverText({ address, port }: Server): string {
  return address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`;
}

/** An accepted answer, or why there is none. `mismatch` means that only other messages arrived. */
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

export interface Transport {
  udp: Send;
  tcp: Send;
}

const PORT = 53;

/** Parses `192.0.2.1`, `192.0.2.1:53`, `2001:db8::1` or `[2001:db8::1]:53`; null for anything else. */
export function parseServer(text: string): Server | null {
  const bracketed = /^\[([^\]]*)\](?::(\d{1,5}))?$/.exec(text);
  const plain = /^([\d.]+)(?::(\d{1,5}))?$/.exec(text);
  const [, address = text, port = String(PORT)] = bracketed ?? plain ?? [];
  const isSound = plain === null ? ipaddr.IPv6.isValid(address) : ipaddr.IPv4.isValidFourPartDecimal(address);
  if (!isSound || Number(port) < 1 || Number(port) > 65_535) return null;
  return { address, port: Number(port) };
}
