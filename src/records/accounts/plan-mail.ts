import { isoTime } from '../../proof/time.ts';
import { AUTO_GENERATED } from '../../shared/outbound/letter.ts';
import { type Limits, limitsInWords } from '../meter/plan.ts';
import type { PaidPlan, PlanMail } from '../meter/plan-order.ts';
import type { RecordsLetter } from './account-mail.ts';

const number = (count: number): string => count.toLocaleString('en');
const minutes = (at: number): string => `${isoTime(at).slice(0, 16).replace('T', ' ')} UTC`;

/** The mail about a bought plan. `free` is what the account has without it. */
export function planMail(root: string, kind: PlanMail, paid: PaidPlan, free: Limits): RecordsLetter {
  return kind === 'receipt' ? receiptMail(root, paid) : endMail(root, kind, paid, free);
}

function receiptMail(root: string, paid: PaidPlan): RecordsLetter {
  const { id, plan, days, cost, network, payer, transaction, carried } = paid;
  const kept = carried > 0 ? ' What was left of your plan before is part of it.' : '';
  return {
    subject: `Receipt: the plan ${plan}, until ${isoTime(paid.ends_at).slice(0, 10)}`,
    headers: AUTO_GENERATED,
    content: {
      preview: `${cost} for ${days} days.`,
      heading: `Your receipt for the plan ${plan}`,
      paragraphs: [
        `You paid ${cost} for ${days} days. The plan is in force from ${minutes(paid.starts_at)} to ${minutes(paid.ends_at)}.${kept} It ends by itself, and nothing is charged again.`,
        `It includes ${limitsInWords(paid)}.`,
        `Receipt ${id}. Paid on ${network} by ${payer}${transaction === null ? '' : `, transaction ${transaction}`}.`,
      ],
      button: { url: `${root}/account/receipts/${id}`, label: 'See the receipt' },
      reason: 'You bought a plan for your account.',
    },
  };
}

function endMail(root: string, kind: 'week' | 'day', { plan, ends_at, watch }: PaidPlan, free: Limits): RecordsLetter {
  const when = kind === 'week' ? 'in a week' : 'in a day';
  const places =
    watch > free.watch
      ? ` If your groups have more than ${number(free.watch)} hostnames then, those that came last leave them 30 days later.`
      : '';
  return {
    subject: `Your plan ${plan} ends ${when}`,
    headers: AUTO_GENERATED,
    content: {
      preview: `It ends on ${minutes(ends_at)}, by itself.`,
      heading: `Your plan ${plan} ends ${when}`,
      paragraphs: [
        `It ends on ${minutes(ends_at)}. Nothing is charged: plans do not renew themselves. If you renew it before, what is left of it counts.`,
        `Without a plan your account has ${limitsInWords(free)}.${places}`,
      ],
      button: { url: `${root}/account/credits`, label: 'Renew the plan' },
      reason: 'You bought this plan for your account.',
    },
  };
}
