import type { Contract } from './contract.ts';
import type { Received } from './receiver.ts';

/** Why a delivery does not match the document's `webhooks`, or null. */
export function webhookMismatch(contract: Contract, { headers, body }: Received): string | null {
  const message = JSON.parse(body) as { type: string };
  const operation = contract.document.webhooks?.[message.type]?.post;
  if (operation === undefined) return `no webhook is called ${message.type}`;
  const missing = (operation.parameters ?? []).find(({ name, required }) => required && !headers[name.toLowerCase()]);
  if (missing !== undefined) return `there is no ${missing.name}`;
  const way = ['webhooks', message.type, 'post', 'requestBody', 'content', 'application/json', 'schema'];
  return contract.mismatch(way, message);
}
