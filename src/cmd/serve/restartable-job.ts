import type { Settings } from '../../env.ts';

/** Starts a job. Returns a function that stops it after the current work. */
export type StartJob = () => () => Promise<void>;

/** A job that a reload ends and starts again, with the settings of that moment. */
export class RestartableJob {
  readonly name: string;
  readonly #prepare: (settings: Settings) => StartJob;
  #current: StartJob;
  #stop: () => Promise<void>;
  #restarting: Promise<void> = Promise.resolve();
  #isStopped = false;

  /**
   * Starts the job. `prepare` opens what the job needs of the settings, or throws what is wrong with them; the function
   * that it returns reads nothing more that may fail.
   */
  constructor(name: string, settings: Settings, prepare: (settings: Settings) => StartJob) {
    this.name = name;
    this.#prepare = prepare;
    this.#current = prepare(settings);
    this.#stop = this.#current();
  }

  /** The start that worked last, to go back to. */
  get current(): StartJob {
    return this.#current;
  }

  /** Prepares a start with other settings. Throws what is wrong with them; the job runs on. */
  prepare(settings: Settings): StartJob {
    return this.#prepare(settings);
  }

  /**
   * Ends the job and starts it in another way. Rejects when that fails; then it does not run. A job that was stopped
   * meanwhile stays so.
   */
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
