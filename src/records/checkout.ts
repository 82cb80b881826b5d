import { setTimeout as wait } from 'node:timers/promises';
import type { AppContext } from '../server/context.ts';
import { newId } from '../shared/new-id.ts';
import { chainClient } from './meter/chain.ts';
import { Checkout, type CheckoutOptions } from './meter/checkout.ts';
import { facilitatorClient } from './meter/facilitator.ts';
import type { Chain } from './meter/purchase.ts';

/** The checkout of the paid lane, with the facilitator and chain from the settings; null while the lane is closed. */
export function createCheckout({ settings, store, clock: { now } }: AppContext): Checkout | null {
  const { x402 } = settings;
  if (x402 === null) return null;
  return new Checkout({
    payments: store.records.payments,
    facilitator: facilitatorClient(x402.facilitator),
    chain: createChain({ x402 }),
    now,
    newId,
    wait: (ms) => wait(ms),
    groupCommit: store.database.groupCommit,
    repeat,
  });
}

/** A client of the chain, through the node in the settings; null without a node. */
export function createChain({ x402 }: Pick<AppContext['settings'], 'x402'>): Chain | null {
  return x402?.rpc == null ? null : chainClient(x402.rpc);
}

const repeat: CheckoutOptions['repeat'] = (work, ms) => {
  const timer = setInterval(work, ms);
  timer.unref();
  return () => clearInterval(timer);
};
