import type { Identity } from './server.ts';

/** What a client can read before it connects (SEP-2127, MCP Server Cards). */
export interface ServerCard {
  $schema: string;
  name: string;
  title: string;
  version: string;
  description: string;
  websiteUrl: string;
  remotes: object[];
}

/** The media type of a card (SEP-2127). */
export const CARD_TYPE = 'application/mcp-server-card+json';

/** Supported protocol versions: the stateless one, and those with a handshake. */
const VERSIONS = ['2026-07-28', '2025-11-25', '2025-06-18', '2025-03-26'];

/** The card of the service at an origin. Tools are listed by the protocol itself. */
export function cardAt(origin: string, { title, version, websiteUrl }: Identity): ServerCard {
  return {
    $schema: 'https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json',
    name: `${reversed(new URL(origin).hostname)}/records`,
    title,
    version,
    description: 'Signed observations of watched hostnames: DNS, certificates, changes and history.',
    websiteUrl,
    remotes: [
      {
        type: 'streamable-http',
        url: `${origin}/mcp`,
        headers: [
          {
            name: 'Authorization',
            description: `Bearer <key>, or the key alone as X-Service-Key. An account's key, made at ${origin}/account. Without one: previews, and payment per call.`,
            isRequired: false,
            isSecret: true,
          },
        ],
        supportedProtocolVersions: VERSIONS,
      },
    ],
  };
}

/** A hostname with its labels reversed, the start of a card's name. */
function reversed(hostname: string): string {
  return hostname.replace(/[[\]]/g, '').replaceAll(':', '-').split('.').reverse().join('.');
}
