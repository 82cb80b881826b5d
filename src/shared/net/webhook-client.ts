import type { WebhookClient } from '../outbound/delivery.ts';
import { type ClientOptions, clientOptions, outboundClient } from './outbound-client.ts';

/** The client for production: only public receivers, unless the settings say otherwise. */
export function createWebhookClient(agent: string, allowsPrivate: boolean): WebhookClient {
  return webhookClient(clientOptions(agent, allowsPrivate));
}

/** A client that posts through `outboundClient`. */
export function webhookClient(options: ClientOptions): WebhookClient {
  const send = outboundClient(options);
  return {
    async post(address, headers, body) {
      const { ms, status, error } = await send(address, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', 'Content-Length': `${Buffer.byteLength(body)}`, ...headers },
        body,
      });
      return { ms, status, error };
    },
  };
}
