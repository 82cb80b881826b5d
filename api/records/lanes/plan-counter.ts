import { isoTime } from '../../../src/proof/time.ts';
import type { Account } from '../../../src/records/accounts/account.ts';
import type { Checkout } from '../../../src/records/meter/checkout.ts';
import { type Offer, priceInWords } from '../../../src/records/meter/offer.ts';
import type { Payment } from '../../../src/records/meter/payment.ts';
import { AHEAD_MAX, planPeriod, type SoldPlan } from '../../../src/records/meter/plan.ts';
import type { PaidPlan, PlanOrder } from '../../../src/records/meter/plan-order.ts';
import { paymentHash, paymentId } from '../../../src/records/meter/purchase.ts';
import { planOffer, planSale } from '../../../src/records/plans.ts';
import type { AppContext } from '../../../src/server/context.ts';
import { Fault } from '../../../src/shared/fault.ts';
import { newId } from '../../../src/shared/new-id.ts';
import { plural } from '../../../src/shared/plural.ts';
import type { RecordsContext } from '../route.ts';
import { operatorOf } from './addresses.ts';
import { menuFor } from './menu.ts';
import { answerOf, type Refusals } from './payment.ts';

export interface Sales {
  checkout: Checkout | null;
  refusals: Refusals;
}

export type PlanCounter = ReturnType<typeof planCounter>;

/** Sells plans to accounts: over the API and on the pages of an account alike. */
export function planCounter(app: AppContext, { checkout, refusals }: Sales) {
  const { store, settings, clock } = app;
  const { plans, payments } = store.records;

  /** A plan on sale. Throws `not_found`. */
  const requirePlan = (name: string): SoldPlan => {
    const plan = plans.find(name);
    if (plan !== null) return plan;
    throw new Fault(
      'not_found',
      `there is no plan ${JSON.stringify(name.slice(0, 80))}; GET /v1/plans lists those on sale`,
    );
  };

  /** When a plan would end if the account bought it now. Throws `conflict` where that is too far ahead. */
  const quote = (account: Account, plan: SoldPlan) => {
    const period = planPeriod(plan, plans.last(account.id), clock.now());
    if (period.ends_at - period.starts_at < AHEAD_MAX) return period;
    const message = `the plan ${plan.name} would last until more than ten years from now, with what is left of your plan; buy it later. Nothing was charged`;
    throw new Fault('conflict', message);
  };

  /** The order that a payment is for: as it was placed, if its settlement has begun, else with the current terms. */
  const orderFor = (account: Account, name: string, payment: Payment): PlanOrder => {
    const hash = paymentHash(payment);
    const placed = plans.ordered(account.id, hash)?.order ?? null;
    if (placed !== null && placed.plan === name && settings.x402 !== null) {
      const purchase = payments.find(paymentId(payment, settings.x402));
      if (purchase !== null && purchase.state !== 'claimed' && purchase.hash === hash) return placed;
    }
    const { name: plan, ...terms } = requirePlan(name);
    quote(account, { name, ...terms });
    return {
      id: newId(),
      ...{ account: account.id, payment: hash, plan, ...terms },
      cost: settings.x402 === null ? '' : priceInWords({ units: terms.price, asset: settings.x402.asset }),
      network: settings.x402?.network.caip2 ?? '',
      asset: settings.x402?.asset.address ?? null,
      payer: payment.transfer.authorization.from,
      ordered_at: clock.now(),
    };
  };

  const closed = () =>
    settings.x402 === null
      ? { reason: 'payments_closed', message: `this service does not accept payments; ask ${operatorOf(settings)}` }
      : {
          reason: 'node_missing',
          message: `plans are not sold here: this service has no node of the chain (X402_RPC_URL) to confirm payments. Nothing was charged; ask ${operatorOf(settings)} to set one`,
        };

  const offerOf = (plan: SoldPlan): Offer | null =>
    checkout === null || settings.x402?.rpc == null ? null : planOffer(settings, { plan: plan.name, ...plan });

  return {
    requirePlan,
    quote,
    offerOf,
    closed,
    /** 402 with the offer. Throws `not_found`, `conflict`. */
    menu(c: RecordsContext, account: Account, name: string): Response {
      const plan = requirePlan(name);
      const { ends_at } = quote(account, plan);
      const offer = offerOf(plan);
      if (offer === null) return menuFor(c, settings, null, closed());
      const message = `the plan ${plan.name} costs ${priceInWords(offer)} for ${plural(plan.days, 'day')}, and would be yours until ${isoTime(ends_at)}: pay what accepts asks for, and send the payment as X-PAYMENT (x402) together with the key`;
      return menuFor(c, settings, offer, { message });
    },
    /** The paid plan, or the response that says why not. Throws `not_found`, `conflict`, `rate_limited`. */
    async buy(c: RecordsContext, account: Account, name: string, payment: Payment): Promise<PaidPlan | Response> {
      const hash = paymentHash(payment);
      const bought = () => {
        const paid = plans.ordered(account.id, hash)?.paid ?? null;
        return paid?.plan === name ? paid : null;
      };
      const earlier = bought();
      if (earlier !== null) return earlier;
      await refusals.check(c);
      for (let isAgain = false; ; isAgain = true) {
        const order = orderFor(account, name, payment);
        const offer = offerOf({ ...order, name });
        if (checkout === null || offer === null) return menuFor(c, settings, null, closed());
        const sold = await checkout.sell(planSale(app, order, payment, offer));
        const paid = bought();
        if (paid !== null) return paid;
        // The operator changed the plan while another request with this payment was under way.
        const wasPlaced = sold.outcome === 'conflict' && plans.ordered(account.id, hash)?.order.plan === name;
        if (wasPlaced && !isAgain) continue;
        await refusals.note(c);
        if (sold.outcome === 'failed' || sold.outcome === 'served') throw new Error('a paid plan was not recorded');
        return answerOf(c, sold, { payment, offer, settings });
      }
    },
  };
}
