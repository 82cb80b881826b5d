import * as z from 'zod';
import { host, port } from './variable.ts';

/** Metrics and logs of a running server. */
export const watching = z
  .object({
    /** Port of `/metrics`, in the text format of Prometheus; 0 picks a free one. Without it there are no metrics. */
    METRICS_PORT: port(),
    /** Address on which `/metrics` listens: this machine, unless another one scrapes it over a private network. */
    METRICS_HOST: host(),
    /** The log level. */
    LOG_LEVEL: z
      .enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'], {
        error: 'must be fatal, error, warn, info, debug, trace or silent',
      })
      .default('info'),
  })
  .transform((env) => ({
    /** Where `/metrics` listens; null without metrics. */
    metrics: env.METRICS_PORT === undefined ? null : { host: env.METRICS_HOST, port: env.METRICS_PORT },
    logLevel: env.LOG_LEVEL,
  }));
