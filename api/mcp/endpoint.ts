import type { Implementation } from '@modelcontextprotocol/server';
import type { Logger } from 'pino';
import type { Settings } from '../../src/server/env.ts';
import { VERSION } from '../../src/shared/project.ts';
import { atMost } from '../middleware/json-body.ts';
import type { RecordsContext } from '../records/route.ts';
import { sendPublic } from '../records/send.ts';
import { representationOf } from '../responses/response-cache.ts';
import type { Ask } from './call.ts';
import type { McpHandler } from './server.ts';

/** The largest message, in bytes. A payment and the arguments of a tool take a few kB. */
const MESSAGE_MAX = 64 * 1024;

const limited = atMost(MESSAGE_MAX, '64 KiB', 'message');

/**
 * The MCP server at /mcp: streamable HTTP, stateless, for clients of protocol 2026-07-28 and earlier. A bad key is
 * rejected here with 401; every other access decision is made by the route that a tool calls.
 */
export function mcpEndpoint({ dataOrigin }: Pick<Settings, 'dataOrigin'>, logger: Logger, ask: Ask) {
  const identity = {
    name: 'broadsheet-domain-records',
    title: 'Domain records',
    version: VERSION,
    websiteUrl: `${dataOrigin}/docs`,
  };
  // The protocol's library is loaded with the first message.
  let handler: Promise<McpHandler> | null = null;
  const open = () => {
    handler ??= import('./server.ts').then(({ mcpHandler }) => mcpHandler(dataOrigin, identity, logger, ask));
    return handler;
  };
  const card = representationOf(JSON.stringify(cardAt(dataOrigin, identity)));
  const cardAs = (type: string) => (c: RecordsContext) => sendPublic(c, card, { 'Content-Type': type });

  return {
    message: {
      before: [limited],
      handle: async (c: RecordsContext) => (await open())(c),
    },
    /** Served at the path that the extension reserves, and at the path that older clients read. */
    card: cardAs(CARD_TYPE),
    cardAsJson: cardAs('application/json'),
  };
}

/** The media type of a card (SEP-2127). */
const CARD_TYPE = 'application/mcp-server-card+json';

/** Supported protocol versions: the stateless one, and those with a handshake. */
const VERSIONS = ['2026-07-28', '2025-11-25', '2025-06-18', '2025-03-26'];

/** What a client can read before it connects (SEP-2127, MCP Server Cards). Tools are listed by the protocol itself. */
function cardAt(origin: string, { title, version, websiteUrl }: Implementation) {
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
const reversed = (hostname: string): string =>
  hostname.replace(/[[\]]/g, '').replaceAll(':', '-').split('.').reverse().join('.');
