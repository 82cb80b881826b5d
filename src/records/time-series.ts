import type { Observation } from './observation.ts';
import { signalsOf } from './record.ts';
import type { CertificateStatus, SignalStatus } from './signal.ts';
import { isKnown } from './signal.ts';
import type { TrackedName } from './tracked-values.ts';

/** One type in one observation, as numbers. */
export interface SeriesSignal {
  status: SignalStatus | CertificateStatus;
  /** The number of values; null when the answer is unknown. */
  count: number | null;
  /** Seconds. */
  ttl: number | null;
  rtt_ms: number | null;
}

/** One point of a domain's time series. */
export interface SeriesPoint {
  seq: number;
  observed_at: string;
  signals: Partial<Record<TrackedName, SeriesSignal>>;
}

/** An observation as a point of the series, with one type or all of them. */
export function timeSeriesPoint({ seq, record }: Observation, type?: TrackedName): SeriesPoint {
  const { certificate_status: status, observed_at } = record;
  const certificate = status === 'ok' ? 1 : status === 'none' ? 0 : null;
  const points = {
    ...Object.fromEntries(
      Object.entries(signalsOf(record)).map(([name, { status, values, ttl, rtt_ms }]) => [
        name,
        { status, count: isKnown({ status }) ? values.length : null, ttl, rtt_ms },
      ]),
    ),
    CERTIFICATE: { status, count: certificate, ttl: null, rtt_ms: null },
  };
  const signals = Object.fromEntries(Object.entries(points).filter(([name]) => type === undefined || name === type));
  return { seq, observed_at, signals };
}
