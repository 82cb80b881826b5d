import type { Logger } from 'pino';
import { collectDefaultMetrics, Registry } from 'prom-client';
import { countMeasurements } from './counted.ts';
import { sampledMetrics } from './sampled.ts';
import type { MetricSources } from './sources.ts';

/** The metrics of this process, in the text format of Prometheus. */
export interface Metrics {
  contentType: string;
  /** All metrics now. Calls at the same time share one reading. */
  text(): Promise<string>;
  close(): void;
}

/** Measures from now on. The gauges are read when `text` is called. */
export function openMetrics(sources: MetricSources, logger: Logger): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const stop = countMeasurements(registry);
  const sample = sampledMetrics(registry, sources, logger);
  let underWay: Promise<string> | null = null;
  const read = async (): Promise<string> => {
    await sample();
    return registry.metrics();
  };
  return {
    contentType: registry.contentType,
    text() {
      underWay ??= read().finally(() => {
        underWay = null;
      });
      return underWay;
    },
    close() {
      stop();
      registry.clear();
    },
  };
}
