import { setTimeout as wait } from 'node:timers/promises';
import type { CheckoutTools } from '../meter/checkout.ts';
import { Checkout } from '../meter/checkout.ts';
import type { Chain } from '../meter/purchase.ts';
import { facilitatorClient } from '../net/facilitator.ts';
import type { AppContext } from './context.ts';
import { newId } from './context.ts';

/** The till of the paid lane, wired to the settings' facilitator and chain; null while the lane is closed. */
export async function openCheckout({ settings, store, now }: AppContext): Promise<Checkout | null> {
  const { x402 } = settings;
  if (x402 === null) return null;
  return new Checkout({
    payments: store.payments,
    facilitator: facilitatorClient(x402.facilitator),
    chain: await chainAt(x402.rpc),
    now,
    newId,
    wait: (ms) => wait(ms),
    repeat,
  });
}

/** The client of the chain is large, and few need it. */
async function chainAt(url: string | null): Promise<Chain | null> {
  if (url === null) return null;
  const { openChain } = await import('../net/chain.ts');
  return openChain(url);
}

const repeat: CheckoutTools['repeat'] = (work, ms) => {
  const timer = setInterval(work, ms);
  timer.unref();
  return () => clearInterval(timer);
};
