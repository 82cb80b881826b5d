import { createMiddleware } from 'hono/factory';
import { isAccessToken, SCOPES } from '../../../src/desk/papers/oauth.ts';
import { isPaperSlug } from '../../../src/desk/papers/paper.ts';
import type { AppContext } from '../../../src/server/context.ts';
import { Fault } from '../../../src/shared/fault.ts';
import type { PaperContext, PaperEnv, Site } from '../../env.ts';
import { notFound } from '../../middleware/key.ts';
import { setHeader } from '../../responses/headers.ts';
import { representationOf } from '../../responses/response-cache.ts';
import { JSON_TYPE, sendShared } from '../../responses/send.ts';
import { MCP_PATH } from '../mcp/call.ts';
import type { Sites } from '../site.ts';

const RESOURCE_PATH = '/.well-known/oauth-protected-resource';
const SERVER_PATH = '/.well-known/oauth-authorization-server';

/** The address of the MCP server, which is what tokens are for (RFC 8707). */
export const resourceOf = ({ served }: Pick<Site, 'served'>): string => `${served}${MCP_PATH}`;

/** A path named after a well-known one (RFC 8414, section 3.1). */
function insertedAt(path: string, below: string): string {
  const { origin, pathname } = new URL(below);
  return `${origin}${path}${pathname.replace(/\/$/, '')}`;
}

/**
 * The site of an address, for documents that are the same whether a paper exists, is private or does not exist, so that
 * clients of a private paper find their way to its console and nobody else learns that there is one.
 */
export function siteAnywhere(c: PaperContext, sites: Sites): Site {
  const site = sites.of(c.env);
  if (site === null || !isPaperSlug(site.slug)) throw notFound();
  return site;
}

/** The documents that tell clients where to sign in. */
export function oauthMetadata(sites: Sites) {
  const send = (make: (site: Site) => object) => (c: PaperContext) =>
    sendShared(c, representationOf(JSON.stringify(make(siteAnywhere(c, sites)))), JSON_TYPE);
  return {
    /** RFC 9728. */
    resource: send((site) => ({
      resource: resourceOf(site),
      authorization_servers: [site.served],
      scopes_supported: SCOPES,
      bearer_methods_supported: ['header'],
      resource_documentation: `${site.served}/agents/`,
    })),
    /** RFC 8414. */
    server: send(({ served }) => ({
      issuer: served,
      authorization_endpoint: `${served}/console/authorize`,
      token_endpoint: `${served}/oauth/token`,
      registration_endpoint: `${served}/oauth/register`,
      revocation_endpoint: `${served}/oauth/revoke`,
      scopes_supported: SCOPES,
      response_types_supported: ['code'],
      response_modes_supported: ['query'],
      grant_types_supported: ['authorization_code', 'refresh_token'],
      code_challenge_methods_supported: ['S256'],
      token_endpoint_auth_methods_supported: ['none'],
      revocation_endpoint_auth_methods_supported: ['none'],
      authorization_response_iss_parameter_supported: true,
      client_id_metadata_document_supported: true,
      service_documentation: `${served}/agents/`,
    })),
    serverPath: SERVER_PATH,
    resourcePath: `${RESOURCE_PATH}${MCP_PATH}`,
  };
}

/**
 * Tells clients where to sign in, in the header of each 401 (RFC 9728, section 5.1), and which scope a token lacks (RFC
 * 6750, section 3.1).
 */
export function challengeClients(sites: Sites) {
  return createMiddleware<PaperEnv>(async (c, next) => {
    const site = siteAnywhere(c, sites);
    await next();
    const sent = c.req.header('authorization') ?? c.req.header('x-nrf-key');
    const isToken = sent !== undefined && isAccessToken(sent.replace(/^Bearer +/i, '').trim());
    const lacksScope = isToken && c.error instanceof Fault && c.error.code === 'level_too_low';
    if (c.res.status !== 401 && !lacksScope) return;
    const error = lacksScope ? 'insufficient_scope' : sent === undefined ? null : 'invalid_token';
    const parts = [
      ...(error === null ? [] : [`error="${error}"`]),
      `scope="${SCOPES.join(' ')}"`,
      `resource_metadata="${insertedAt(RESOURCE_PATH, resourceOf(site))}"`,
    ];
    setHeader(c, 'WWW-Authenticate', `Bearer ${parts.join(', ')}`);
  });
}

/** Throws `key_required` for messages without a key to a paper that is private or does not exist: they look the same. */
export function requireKeyOfHidden({ store }: Pick<AppContext, 'store'>, sites: Sites) {
  return createMiddleware<PaperEnv>((c, next) => {
    const hasKey = c.req.header('authorization') !== undefined || c.req.header('x-nrf-key') !== undefined;
    const isHidden = store.desk.paper(siteAnywhere(c, sites).slug)?.paper_public !== true;
    if (c.req.method !== 'POST' || hasKey || !isHidden) return next();
    throw new Fault(
      'key_required',
      'send a key of the paper as `Authorization: Bearer <key>`, or sign in where WWW-Authenticate says',
    );
  });
}
