import { DAY, isoTime } from '../../../src/proof/time.ts';
import type { Account } from '../../../src/records/accounts/account.ts';
import { answer } from '../../../src/records/accounts/answer.ts';
import { type Offer, requirementsV1 } from '../../../src/records/meter/offer.ts';
import { decodePayment, type Payment } from '../../../src/records/meter/payment.ts';
import { planInWords, planReceipt } from '../../../src/records/meter/plan-order.ts';
import { limitsOf, planRows, plansOnSale, sellsToAccounts } from '../../../src/records/plans.ts';
import type { AppContext } from '../../../src/server/context.ts';
import { Fault } from '../../../src/shared/fault.ts';
import type { SignedIn } from '../../env.ts';
import { problemOf } from '../../middleware/form-body.ts';
import type { PlanCounter } from '../lanes/plan-counter.ts';
import type { PageSender } from '../pages/page.ts';
import type { RecordsContext } from '../route.ts';
import { answered, sendAccountPage, signedInForm, signedInPage } from './pages.ts';

/** The part of the credits page that is about plans. */
export function planParts(app: AppContext, account: Account) {
  const { limits, bought } = limitsOf(app, account);
  const plan = planInWords(bought);
  return {
    limits,
    plan: plan && bought && { ...plan, is_last_week: bought.ends_at - app.clock.now() <= 7 * DAY },
    plans: plansOnSale(app),
    receipts: app.store.records.plans.receipts(account.id).map(planReceipt),
  };
}

/** The longest payment that a rejected form keeps, in characters. */
const PAYMENT_SHOWN = 12_000;

export function planHandlers(app: AppContext, counter: PlanCounter, pages: PageSender) {
  const { settings, store } = app;
  const nameOf = (c: RecordsContext) => c.req.param('name') ?? '';
  const send = (
    c: RecordsContext,
    { account }: SignedIn,
    name: string,
    { problem = null, given = '' }: { problem?: string | null; given?: string } = {},
  ) => {
    const plan = counter.requirePlan(name);
    const period = counter.quote(account, plan);
    const offer = counter.offerOf(plan);
    const row = planRows(app).find((one) => one.name === plan.name);
    if (row === undefined) throw new Fault('not_found', `there is no plan ${plan.name} any more`);
    return sendAccountPage(pages, c, ['/account/plan', `Plan ${plan.name}`, problem === null ? 200 : 400], {
      plan: row,
      ends_at: isoTime(period.ends_at),
      carried_seconds: Math.floor(period.carried / 1_000),
      held: planInWords(limitsOf(app, account).bought),
      offer: offer === null ? null : JSON.stringify(toSign(offer)),
      pay_to: offer?.payTo ?? null,
      network: offer?.network.name ?? null,
      problem,
      given: given.slice(0, PAYMENT_SHOWN),
    });
  };
  return {
    show: signedInPage((c, signed) => send(c, signed, nameOf(c))),
    buy: signedInForm(settings, async (c, signed, form) => {
      const given = form.text('payment').trim();
      const name = nameOf(c);
      try {
        if (!sellsToAccounts(settings)) throw new Fault('conflict', counter.closed().message);
        const paid = await counter.buy(c, signed.account, name, paymentFrom(given));
        if (!(paid instanceof Response)) {
          const said = answer(
            `The plan ${paid.plan} is paid, and in force until ${isoTime(paid.ends_at).slice(0, 10)}. Its receipt is on its way by mail.`,
          );
          return answered(c, signed, `/account/receipts/${paid.id}`, said);
        }
        const { message } = (await paid.json()) as { message: string };
        return send(c, signed, name, { problem: sentence(message), given });
      } catch (error) {
        const problem = problemOf(error);
        // There is no page to show the error of a plan that is not on sale any more.
        if (store.records.plans.find(name) === null) throw error;
        return send(c, signed, name, { problem, given });
      }
    }),
    receipt: signedInPage((c, { account }) => {
      const paid = store.records.plans.receipt(account.id, c.req.param('id') ?? '');
      if (paid === null)
        throw new Fault('not_found', 'your account has no such receipt; /account/credits lists those that it has');
      return sendAccountPage(pages, c, ['/account/receipt', 'Receipt'], {
        receipt: planReceipt(paid),
        network: paid.network,
      });
    }),
  };
}

function sentence(message: string): string {
  return `${message.slice(0, 1).toUpperCase()}${message.slice(1)}.`;
}

/** A payment of either version of x402, in base64. Throws `invalid_request`. */
function paymentFrom(text: string): Payment {
  const json = Buffer.from(text, 'base64').toString();
  return decodePayment(text, /"x402Version"\s*:\s*2\b/.test(json) ? 2 : 1);
}

/** What a wallet signs (EIP-712) for an offer, and the frame of the payment around it. */
function toSign(offer: Offer) {
  const { network, asset } = offer;
  const { maxTimeoutSeconds } = requirementsV1(offer);
  return {
    network: network.name,
    chain: Number(network.caip2.slice('eip155:'.length)),
    token: { name: asset.name, version: asset.version, address: asset.address },
    pay_to: offer.payTo,
    units: String(offer.units),
    seconds: maxTimeoutSeconds,
  };
}
