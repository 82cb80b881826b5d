/** What a server runs until it stops: a listener with its jobs. */
export interface Service {
  name: 'desk' | 'records' | 'metrics';
  url: string;
  /** Sends callers away with their next response. */
  drain(): void;
  /** Starts again what uses settings that a reload may change. */
  reload(): Promise<void>;
  /** Finishes the work in progress. */
  stop(): Promise<void>;
}

/** Starts a job. Returns a function that stops it after the current work. */
export type StartJob = () => () => Promise<void>;

/** A job that a reload ends and starts again, with the settings of that moment. */
export interface RestartableJob {
  reload(): Promise<void>;
  stop(): Promise<void>;
}

export function restartable(start: StartJob): RestartableJob {
  let stop = start();
  return {
    async reload() {
      await stop();
      stop = start();
    },
    stop: () => stop(),
  };
}
