import { createHash } from 'node:crypto';
import { DAY } from '../proof/time.ts';
import type { AppContext } from '../server/context.ts';
import type { Settings } from '../server/env.ts';
import { newId } from '../shared/new-id.ts';
import type { Plan } from './meter/account-usage.ts';
import type { Checkout, Order } from './meter/checkout.ts';
import { type Offer, priceInWords } from './meter/offer.ts';
import type { Payment } from './meter/payment.ts';
import { FREE, type Limits, limitsWith, type PlanRow, type PlanTerms } from './meter/plan.ts';
import { type PaidPlan, type PlanMail, type PlanOrder, planInForce } from './meter/plan-order.ts';
import type { Chain } from './meter/purchase.ts';

/** The limits of an account without a bought plan, by how it is metered. */
export function freeLimits(settings: Settings, metered: Plan): Limits {
  return {
    daily: settings.keyedDaily,
    per_minute: settings.keyedPerMinute,
    watch: settings.watchCaps[metered],
    streams: settings.keyedStreams,
    exports: settings.keyedExports,
  };
}

/** The current limits of an account, and the bought plan in force. */
export function limitsOf(
  { store, settings, clock }: AppContext,
  account: { id: string; plan: Plan },
): { limits: Limits; bought: PaidPlan | null } {
  const bought = planInForce(store.records.plans.last(account.id), clock.now());
  return { limits: limitsWith(freeLimits(settings, account.plan), bought), bought };
}

/** The offer for a plan, with the terms of an order or of the plan as it is now; null while payments are closed. */
export function planOffer({ x402, dataOrigin }: Settings, { plan, price, days }: NamedTerms): Offer | null {
  if (x402 === null) return null;
  const { network, asset, payTo } = x402;
  return {
    ...{ network, asset, payTo, units: price },
    resource: `${dataOrigin}/v1/plans/${plan}`,
    description: `The plan ${plan} for ${days} days`,
    mimeType: 'application/json',
  };
}

type NamedTerms = PlanTerms & { plan: string };

/** Identifies what a payment for a plan buys: the account, the plan, and each of its terms. */
function requestOf({ account, plan, daily, per_minute, watch, streams, exports, price, days }: PlanOrder): string {
  const terms = [daily, per_minute, watch, streams, exports, price, days].join(' ');
  return createHash('sha256').update(`POST /v1/plans/${plan}\n${account}\n${terms}`).digest('hex');
}

/**
 * The checkout order for a plan. The plan's terms are stored before money may move; the settlement, the grant and its
 * receipt are recorded in one transaction.
 */
export function planSale(app: AppContext, order: PlanOrder, payment: Payment, offer: Offer): Order {
  const { plans } = app.store.records;
  return {
    ...{ payment, offer, request: requestOf(order), mustConfirm: true },
    run: async () => ({ status: 200, headers: [], body: Buffer.from(order.id) }),
    record: {
      settling: () => plans.place(order, payment),
      settled(transaction) {
        // Another request with this payment may have placed the order.
        const { id } = plans.ordered(order.account, order.payment)?.order ?? order;
        queueMail(app, plans.grant(id, app.clock.now(), transaction), 'receipt');
      },
    },
  };
}

/** The most orders looked up in one round. */
const ORDERS = 20;

/**
 * Finishes orders whose payment arrived unnoticed: the process was killed, and the payer did not come back. It asks the
 * chain, and moves no money itself. Looks up orders with ids after `after`; returns how many it finished, and where the
 * next round continues.
 */
export async function finishPlanOrders(
  app: AppContext,
  { checkout, chain }: { checkout: Checkout; chain: Chain },
  after = '',
): Promise<{ finished: number; next: string }> {
  const { plans } = app.store.records;
  let finished = 0;
  const orders = plans.open(after, ORDERS);
  for (const { order, payment } of orders) {
    const offer = planOffer(app.settings, order);
    // Another chain or token than the order's cannot know its payment, so the order stays open.
    const isElsewhere =
      order.network !== offer?.network.caip2 || (order.asset !== null && order.asset !== offer.asset.address);
    const status = offer === null || isElsewhere ? 'unseen' : await chain.status(payment, offer);
    if (offer === null || typeof status !== 'object') continue;
    if ('void' in status) plans.drop(order.id);
    else if ((await checkout.sell(planSale(app, order, payment, offer))).outcome === 'served') finished++;
  }
  return { finished, next: orders.length < ORDERS ? '' : (orders.at(-1)?.order.id ?? '') };
}

/** How long before a plan's end each reminder is sent, in ms. */
const WARNINGS: readonly [kind: PlanMail, before: number][] = [
  ['day', DAY],
  ['week', 7 * DAY],
];

/** Queues the reminders that a plan ends soon, each once. Plans shorter than a reminder's notice get none. */
export function queuePlanMails(app: AppContext): void {
  const { store, clock } = app;
  const now = clock.now();
  let from = now;
  for (const [kind, before] of WARNINGS) {
    const due = (): PaidPlan[] =>
      store.records.plans.ending(kind, from, now + before).filter((paid) => paid.ends_at - paid.starts_at > before);
    // Checked outside of a transaction: most polls find nothing.
    if (due().length > 0) {
      store.database.transact(() => {
        for (const paid of due()) queueMail(app, paid, kind);
      });
    }
    from = now + before;
  }
}

function queueMail({ store, clock }: AppContext, { id, account }: PaidPlan, kind: PlanMail): void {
  const { accounts, accountMails, plans } = store.records;
  // A deleted account gets no mail.
  const email = accounts.find(account)?.email;
  const mail = newId();
  if (email === undefined || !plans.noteMail(id, kind, mail)) return;
  accountMails.queue({ id: mail, account, email, kind: 'plan', due_at: clock.now() });
}

/** After a plan ends, hostnames above the limit stay in their groups for this long, in ms. */
export const PLACES_KEPT = 30 * DAY;

/**
 * Removes hostnames above the limit from the groups of accounts whose plan ended 30 days ago, the last added first, and
 * ends their watch unless somebody else watches them. Returns them.
 */
export function releasePlaces(app: AppContext): string[] {
  const { store, settings, clock } = app;
  const { accounts, plans, watchGroups } = store.records;
  const least = Math.min(...Object.values(settings.watchCaps));
  return plans.ended(clock.now() - PLACES_KEPT, least).flatMap((id) => {
    const account = accounts.find(id);
    if (account === null) return [];
    return store.database.transact(() => {
      const held = watchGroups.held(id).toSorted((a, b) => a.added_at - b.added_at);
      const names = [...new Set(held.map(({ hostname }) => hostname))];
      const surplus = new Set(names.slice(limitsOf(app, account).limits.watch));
      for (const { watch_group, hostname } of held) {
        if (surplus.has(hostname)) watchGroups.take({ id: watch_group, account: id }, hostname, clock.now());
      }
      for (const { hostname } of watchGroups.released(id)) if (surplus.has(hostname)) watchGroups.unwatch(hostname);
      return [...surplus];
    });
  });
}

/** The plans on sale, the cheapest per day first. */
export function plansOnSale(app: Pick<AppContext, 'store' | 'settings'>): PlanRow[] {
  return planRows(app).slice(1);
}

/** The free limits, and the plans on sale, the cheapest per day first. */
export function planRows({ store, settings }: Pick<AppContext, 'store' | 'settings'>): PlanRow[] {
  const { asset = null } = settings.x402 ?? {};
  return [
    { name: FREE, ...freeLimits(settings, 'daily'), days: null, price: null, units: null },
    ...store.records.plans.list().map(({ price: units, ...plan }) => ({
      ...plan,
      price: asset === null ? null : priceInWords({ units, asset }),
      units: String(units),
    })),
  ];
}

/** Whether accounts can buy credits and plans: a node of the chain confirms each payment. */
export function sellsToAccounts({ x402 }: Pick<Settings, 'x402'>): boolean {
  return (x402?.rpc ?? null) !== null;
}
