import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import autocannon from 'autocannon';

const SERVED = fileURLToPath(new URL('served.ts', import.meta.url));
/** How many ask at the same time. */
export const CALLERS = 32;
/** How long a door is asked at a time, in seconds; before that it is warmed for as long. */
const SPAN = 2;
/** How long an answer may take, in seconds, before it counts as failed: long enough for a loaded machine. */
const TIMEOUT = 60;

/** What is asked of one server: an address, or several in turn, and what the callers send. */
interface Load {
  url: string;
  paths: string[];
  headers?: Record<string, string>;
  /** The headers of each request anew. */
  each?: () => Record<string, string>;
  /** The address of each request anew, whichever caller sends it; else every caller goes through `paths` by itself. */
  next?: () => string;
  /** How many requests; else as many as fit into the span. */
  amount?: number;
  /** Whether the server may refuse: a refusal is an answer too. */
  mayRefuse?: boolean;
}

/** Answers a second, and how long they took, in ms. */
export interface Loaded {
  /** How many were answered. */
  count: number;
  refused: number;
  rate: number;
  p50: number;
  p99: number;
}

/** Asks from many callers at once for a while. Throws when an answer is no success. */
export async function load({ url, paths, headers, each, next, amount, mayRefuse = false }: Load): Promise<Loaded> {
  const setupRequest =
    (each || next) &&
    ((request: autocannon.Request) => ({
      ...request,
      ...(each ? { headers: each() } : {}),
      ...(next ? { path: next() } : {}),
    }));
  const requests = paths.map((path) => ({ path, ...(setupRequest ? { setupRequest } : {}) }));
  const length = amount === undefined ? { duration: SPAN } : { amount };
  const options = { url, connections: CALLERS, ...length, requests, timeout: TIMEOUT, ...(headers ? { headers } : {}) };
  const result = await autocannon(options);
  if ((result.non2xx > 0 && !mayRefuse) || result.errors > 0) {
    const statuses = JSON.stringify(result.statusCodeStats);
    throw new Error(`${url}${paths[0]}: not all answers were a success (${statuses}), ${result.errors} failed`);
  }
  const count = result.requests.total;
  const refused = result.non2xx;
  return { count, refused, rate: result.requests.average, p50: result.latency.p50, p99: result.latency.p99 };
}

export interface Served {
  url: string;
  pid: number;
  stop(): Promise<void>;
}

/** Starts a server of served.ts in a process of its own. */
export async function start(args: string[], env: NodeJS.ProcessEnv): Promise<Served> {
  const child: ChildProcess = spawn(process.execPath, [SERVED, ...args], {
    env: { ...process.env, ...env, HOST: '127.0.0.1', PORT: '0', RECORDS_PORT: '0' },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  let said = '';
  for await (const chunk of child.stdout ?? []) {
    said += chunk;
    const url = /^ready (\S+)$/m.exec(said)?.[1];
    if (url === undefined) continue;
    const stop = async () => {
      const ended = once(child, 'close');
      child.kill('SIGKILL');
      await ended;
    };
    return { url, pid: child.pid ?? 0, stop };
  }
  throw new Error(`the benchmark's server (${args.join(' ')}) ended before it was ready`);
}
