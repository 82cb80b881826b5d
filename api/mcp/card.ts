import type { Implementation } from '@modelcontextprotocol/server';

/** The media type of a card (SEP-2127). */
export const CARD_TYPE = 'application/mcp-server-card+json';

/** Supported protocol versions: the stateless one, and those with a handshake. */
const VERSIONS = ['2026-07-28', '2025-11-25', '2025-06-18', '2025-03-26'];

interface Carded extends Pick<Implementation, 'title' | 'version' | 'websiteUrl'> {
  /** The address of the server. */
  url: string;
  /** The last part of the card's name, after the reversed hostname. */
  name: string;
  /** At most 100 characters. */
  description: string;
  /** A description of the value of the header `Authorization`. */
  authorization: string;
}

/** The card that clients can read before they connect (SEP-2127, MCP Server Cards). The protocol itself lists tools. */
export function serverCard({ url, name, title, version, description, websiteUrl, authorization }: Carded) {
  return {
    $schema: 'https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json',
    name: `${reversed(new URL(url).hostname)}/${name}`,
    title,
    version,
    description,
    websiteUrl,
    remotes: [
      {
        type: 'streamable-http',
        url,
        headers: [{ name: 'Authorization', description: authorization, isRequired: false, isSecret: true }],
        supportedProtocolVersions: VERSIONS,
      },
    ],
  };
}

/** A hostname with its labels reversed, the start of a card's name. */
const reversed = (hostname: string): string =>
  hostname.replace(/[[\]]/g, '').replaceAll(':', '-').split('.').reverse().join('.');
