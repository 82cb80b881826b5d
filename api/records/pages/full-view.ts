import type { Observation } from '../../../src/records/observation.ts';
import { fullRecordOf } from '../../../src/records/preview.ts';
import { isKnown } from '../../../src/records/signal.ts';
import type { FullView } from '../../../src/records/views.ts';
import { signalLabel } from './change-view.ts';

/** Every field of an observation, for signed-in readers. */
export function fullView(observation: Observation): FullView {
  const { signals, certificate, certificate_status, services, wildcard } = fullRecordOf(observation);
  return {
    signals: Object.entries(signals).map(([name, { status, ttl, values, transport, rtt_ms, flags }]) => ({
      name: signalLabel(name),
      status,
      is_known: isKnown({ status }),
      ttl: ttl === null ? '' : `${ttl} s`,
      values,
      via: [
        transport?.toUpperCase(),
        rtt_ms === null ? undefined : `${rtt_ms} ms`,
        flags.ad ? 'DNSSEC validated' : undefined,
      ]
        .filter((word) => word !== undefined)
        .join(', '),
    })),
    certificate:
      certificate === null
        ? null
        : {
            issuer: certificate.issuer,
            subject: certificate.subject,
            not_before: certificate.not_before,
            not_after: certificate.not_after,
            fingerprint: certificate.fingerprint256,
            names: certificate.san,
          },
    certificate_status,
    services: services.map(({ service, kind, seen_in }) => ({
      service,
      kind,
      seen_in: seen_in.map(signalLabel).join(', '),
    })),
    wildcard: wildcard === null ? 'unknown' : wildcard ? 'yes: any name below it has an address' : 'no',
  };
}
