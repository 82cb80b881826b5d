import type { RestartableJob } from './restartable-job.ts';

/** What a server runs until it stops: a listener with its jobs. */
export interface Service {
  name: 'desk' | 'records' | 'metrics';
  url: string;
  /** The jobs that use settings which a reload may change. */
  jobs: readonly RestartableJob[];
  /** Sends callers away with their next response. */
  drain(): void;
  /** Finishes the work in progress. */
  stop(): Promise<void>;
}
