import type { SampledRegistry } from './sampled-registry.ts';
import type { MetricSources, Readings } from './sources.ts';

/** The hostnames under watch, and what is paid for answers about them. */
export function ofRecords(registry: SampledRegistry, { app: { store, now } }: MetricSources): Readings {
  const scanQueue = registry.queue(['scanner_due', 'scanner_oldest_due_seconds'], 'Hostnames');
  const scanLeased = registry.gauge('scanner_leased', 'Hostnames that a scanner holds, counted up to 10,000.');
  const hostnames = registry.gauge('hostnames', 'Hostnames, by state.', ['state']);
  const credits = registry.total('credits_total', 'Credits of the ledger, without their sign.', ['kind']);
  const payments = registry.gauge('payments_open', 'Payments whose outcome is unknown.');
  const paymentAge = registry.gauge(
    'payments_oldest_open_seconds',
    'Age of the first payment whose outcome is unknown.',
  );
  return {
    scanner() {
      const { leased, ...queue } = store.vitalSigns().scanQueue(now());
      scanQueue({}, queue);
      scanLeased.set(leased);
    },
    hostnames() {
      for (const { state, count } of store.vitalSigns().hostnames()) hostnames.set({ state }, count);
    },
    credits() {
      for (const { kind, amount } of store.vitalSigns().credits()) credits({ kind }, Math.abs(amount));
    },
    payments() {
      const { count, oldest_at } = store.vitalSigns().openPayments();
      payments.set(count);
      paymentAge.set(registry.age(oldest_at));
    },
  };
}
