import * as z from 'zod';
import { NETWORKS, networkOf } from '../../records/meter/offer.ts';
import { paidLane, parsePrices, paymentSettingMissing } from '../../records/meter/payment-settings.ts';
import { list, refuse } from './variable.ts';

const chainAddress = () => z.string().regex(/^0x[0-9a-fA-F]{40}$/, 'must be 0x and 40 hex digits');

/** How callers of the domain records pay. */
export const payments = z
  .object({
    /**
     * The x402 facilitator that verifies and settles payments. Without it, the paid lane is closed. Set this and the
     * next three, or none of them.
     */
    X402_FACILITATOR_URL: z.url({ protocol: /^https?$/, error: 'must be an http or https address' }).optional(),
    /**
     * The payee's address on the chain. Use it for the records only: every payment to it counts as a payment for them.
     */
    X402_PAY_TO: chainAddress().optional(),
    /** The network: `base` or `base-sepolia`. */
    X402_NETWORK: z
      .string()
      .transform((text, context) => {
        const network = networkOf(text);
        if (network !== null) return network;
        context.addIssue(`must be one of ${NETWORKS.map(({ name }) => name).join(', ')}`);
        return z.NEVER;
      })
      .optional(),
    /** The contract of the payment token, which must support EIP-3009, as USDC does. */
    X402_ASSET: chainAddress().optional(),
    /** The name and version of the token's EIP-712 domain. Not needed for USDC. */
    X402_ASSET_NAME: z.string().max(100).optional(),
    X402_ASSET_VERSION: z.string().max(20).optional(),
    /**
     * Prices by a route's path, separated by commas, in atomic units of the token (for USDC, millionths of a dollar):
     * `/v1/domains/{domain}=1000,*=5000`. Other routes keep their default, or the price of `*`.
     */
    X402_PRICES: list().transform((entries, context) => {
      const prices = parsePrices(entries);
      if (prices !== null) return prices;
      context.addIssue('must be path=units entries separated by commas, units from 1 to 1000000000');
      return z.NEVER;
    }),
    /**
     * A node of the chain. With it, the server looks up settlements with an unknown outcome, and detects a facilitator
     * that falsely reports a payment as settled. Without it, credits are not sold, and a payment whose settlement was
     * interrupted is not served once its nonce is used: whether it was paid or cancelled is unknown.
     */
    X402_RPC_URL: z.url({ protocol: /^https?$/, error: 'must be an http or https address' }).optional(),
  })
  .superRefine((env, context) => {
    const missing = paymentSettingMissing(env);
    if (missing !== null) refuse(context, missing.name, missing.message);
  })
  .transform((env) => ({ x402: paidLane(env) }));
