import type { Settings } from '../../server/env.ts';

/** Starts a job. Returns a function that stops it after the current work. */
export type StartJob = () => () => Promise<void>;

/** Starts a job now or later. Returns a function that stops it, or keeps it from starting. */
export type StartsJobs = (start: StartJob) => () => Promise<void>;

/** A job that a reload stops and starts again with the new settings. */
export class RestartableJob {
  readonly name: string;
  readonly #prepare: (settings: Settings) => StartJob;
  #current: StartJob;
  #stop: () => Promise<void>;
  #restarting: Promise<void> = Promise.resolve();
  #isStopped = false;

  /** Starts the job. `prepare` throws if the settings are wrong; the function that it returns must not fail. */
  constructor(name: string, settings: Settings, prepare: (settings: Settings) => StartJob) {
    this.name = name;
    this.#prepare = prepare;
    this.#current = prepare(settings);
    this.#stop = this.#current();
  }

  /** The last start that worked, to go back to. */
  get current(): StartJob {
    return this.#current;
  }

  /** Prepares a start with other settings. Throws if they are wrong. The job keeps running. */
  prepare(settings: Settings): StartJob {
    return this.#prepare(settings);
  }

  /** Stops the job and starts it with `start`. If this rejects, the job does not run. A stopped job stays stopped. */
  restart(start: StartJob): Promise<void> {
    const restarted = this.#restarting.then(() => this.#restart(start));
    this.#restarting = restarted.catch(() => undefined);
    return restarted;
  }

  /** Stops the job permanently, after its current work. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#restarting;
    await this.#end();
  }

  async #restart(start: StartJob): Promise<void> {
    await this.#end();
    if (this.#isStopped) return;
    this.#stop = start();
    this.#current = start;
  }

  async #end(): Promise<void> {
    const stop = this.#stop;
    this.#stop = async () => {};
    await stop();
  }
}

/** Jobs that begin once the server is ready, so that neither the start nor the first requests wait for their work. */
export class LateJobs {
  readonly #startJob: StartsJobs;
  /** The starts that wait for the server; null once it is ready. */
  #waiting: (() => void)[] | null = [];

  constructor(startJob: StartsJobs) {
    this.#startJob = startJob;
  }

  /** Starts a job when the server is ready. */
  readonly startJob: StartsJobs = (start) => {
    if (this.#waiting === null) return this.#startJob(start);
    let stop: (() => Promise<void>) | null = null;
    let isStopped = false;
    this.#waiting.push(() => {
      if (!isStopped) stop = this.#startJob(start);
    });
    return async () => {
      isStopped = true;
      await stop?.();
    };
  };

  /** Starts the waiting jobs, because the server is ready. Throws when a job cannot be started. */
  begin(): void {
    const waiting = this.#waiting ?? [];
    this.#waiting = null;
    for (const start of waiting) start();
  }
}

/** A listener with its jobs, which a server runs until it stops. */
export interface Service {
  name: 'desk' | 'records' | 'metrics';
  url: string;
  /** The jobs that use settings which a reload may change. */
  jobs: readonly RestartableJob[];
  /** Closes each connection after its next response. */
  drain(): void;
  /** Finishes the work in progress. */
  stop(): Promise<void>;
}

/** Waits until everything has ended, because the database is closed next. Then throws the first failure. */
export async function allEnded(ends: readonly Promise<unknown>[]): Promise<void> {
  const outcomes = await Promise.allSettled(ends);
  for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
}
