import type { AppContext } from '../context.ts';
import type { PressQueue } from '../press-queue.ts';

/** What the gauges are read from. */
export interface MetricSources {
  app: AppContext;
  /** Null without the desk. */
  presses(): PressQueue | null;
}

/** What is read for a scrape, by the name under which a failure is counted. */
export type Readings = Record<string, () => void>;

/** The same of the disks, which take their time. */
export type DiskReadings = Record<string, () => Promise<void>>;
