import { LOG_SERVICES } from '../../desk/log-leaves.ts';
import { leavesBehind, SIGNING_REASONS, signingState } from '../signing-state.ts';
import type { SampledRegistry } from './sampled-registry.ts';
import type { MetricSources, Readings } from './sources.ts';

/** Who signs: the lease of LEASE_URL, where there is one, and why this server does not. */
export function ofLease(registry: SampledRegistry, { app }: MetricSources): Readings {
  const held = registry.gauge('lease_held', '1 while this server holds the lease of LEASE_URL; absent without one.');
  const left = registry.gauge('lease_seconds_left', 'How long it may sign without renewing the lease.');
  const transitions = registry.total('lease_transitions_total', 'How often this server took or lost the lease.');
  const behind = registry.gauge('lease_leaves_behind', 'Leaves that this copy lacks of what was signed.', ['log']);
  const refused = registry.gauge('signing_refused', '1 for the reason for which nothing is signed here.', [
    'log',
    'why',
  ]);
  return {
    lease() {
      const lease = app.signer.state();
      if (lease !== null) {
        held.set(lease.isHeld ? 1 : 0);
        left.set(lease.left / 1_000);
        transitions({}, lease.transitions);
      }
      for (const log of LOG_SERVICES.filter((one) => app.settings.services[one])) {
        const { why } = signingState(app, log);
        for (const reason of SIGNING_REASONS) refused.set({ log, why: reason }, reason === why ? 1 : 0);
        const lacking = leavesBehind(app, log);
        if (lacking !== null) behind.set({ log }, lacking);
      }
    },
  };
}
