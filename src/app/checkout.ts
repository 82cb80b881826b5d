import { setTimeout as wait } from 'node:timers/promises';
import type { CheckoutTools } from '../meter/checkout.ts';
import { Checkout } from '../meter/checkout.ts';
import { openChain } from '../net/chain.ts';
import { facilitatorClient } from '../net/facilitator.ts';
import type { AppContext } from './context.ts';
import { newId } from './context.ts';

/** The till of the paid lane, wired to the settings' facilitator and chain; null while the lane is closed. */
export function openCheckout({ settings, store, now }: AppContext): Checkout | null {
  const { x402 } = settings;
  if (x402 === null) return null;
  return new Checkout({
    payments: store.payments,
    facilitator: facilitatorClient(x402.facilitator),
    chain: x402.rpc === null ? null : openChain(x402.rpc),
    now,
    newId,
    wait: (ms) => wait(ms),
    repeat,
  });
}

const repeat: CheckoutTools['repeat'] = (work, ms) => {
  const timer = setInterval(work, ms);
  timer.unref();
  return () => clearInterval(timer);
};
