import { LOG_SERVICES } from '../../desk/log-leaves.ts';
import { DELIVERY_QUEUE_NAMES, MAIL_QUEUE_NAMES } from '../../store/vital-signs.ts';
import type { SampledRegistry } from './sampled-registry.ts';
import type { MetricSources, Readings } from './sources.ts';

/** What each service has its own of: mails, webhooks and a log. */
export function ofBoth(registry: SampledRegistry, { app }: MetricSources): Readings {
  const { store, now } = app;
  const { services } = app.settings;
  const mails = registry.queue(['mails_due', 'mails_oldest_due_seconds'], 'Mails', ['queue']);
  const deliveries = registry.queue(
    ['webhook_deliveries_due', 'webhook_deliveries_oldest_due_seconds'],
    'Deliveries to webhooks',
    ['queue'],
  );
  const leaves = registry.total('signatures_total', 'Signed receipts: the leaves of the log.', ['log']);
  const unsigned = registry.gauge('log_unsigned_leaves', 'Leaves that no signed head covers.', ['log']);
  const headAge = registry.gauge('log_head_age_seconds', 'Age of the newest signed head.', ['log']);
  const uncosigned = registry.gauge(
    'log_uncosigned_leaves',
    'Leaves that no cosigned head covers; only with witnesses.',
    ['log'],
  );
  const uncosignedFor = registry.gauge(
    'log_uncosigned_seconds',
    'While there are any, the age of the newest cosigned head; only with witnesses.',
    ['log'],
  );
  const fenced = registry.gauge('log_fenced', '1 while this copy of the log must sign nothing.', ['log']);

  /** Queues are named in this order: that of the desk, that of the records. */
  const isServed = (n: number) => (n === 0 ? services.desk : services.records);
  return {
    mails() {
      for (const [n, queue] of MAIL_QUEUE_NAMES.entries()) {
        if (isServed(n)) mails({ queue }, store.vitalSigns().mails(queue, now()));
      }
    },
    webhooks() {
      for (const [n, queue] of DELIVERY_QUEUE_NAMES.entries()) {
        if (isServed(n)) deliveries({ queue }, store.vitalSigns().deliveries(queue, now()));
      }
    },
    logs() {
      for (const log of LOG_SERVICES.filter((one) => services[one])) {
        const size = store.log.size(log);
        const head = store.log.lastHead(log);
        leaves({ log }, size);
        unsigned.set({ log }, size - (head?.size ?? 0));
        if (head !== null) headAge.set({ log }, registry.age(head.signed_at));
        if (app.settings.logPolicy !== null) {
          const cosigned = store.log.cosignedSize(log);
          uncosigned.set({ log }, size - cosigned);
          uncosignedFor.set({ log }, size > cosigned ? registry.age(store.log.cosignedAt(log)) : 0);
        }
        fenced.set({ log }, store.log.fence(log) === null ? 0 : 1);
      }
    },
  };
}
