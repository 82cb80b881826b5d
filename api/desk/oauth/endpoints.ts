import { randomBytes } from 'node:crypto';
import type { BlockList } from 'node:net';
import { keyChange, recordActivity } from '../../../src/desk/activity.ts';
import {
  type Exchanged,
  exchangeCode,
  exchangeRefresh,
  type Granting,
  OAuthFault,
  revokeToken,
} from '../../../src/desk/papers/oauth.ts';
import type { AppContext } from '../../../src/server/context.ts';
import { newId } from '../../../src/shared/new-id.ts';
import type { PaperContext, Site } from '../../env.ts';
import { callerNetwork, callerOf } from '../../middleware/caller.ts';
import { Form, isUrlencoded } from '../../middleware/form-body.ts';
import { parseJson } from '../../middleware/json-body.ts';
import { respond } from '../../responses/headers.ts';
import { JSON_TYPE } from '../../responses/send.ts';
import type { Sites } from '../site.ts';
import type { Clients } from './clients.ts';
import { resourceOf, siteAnywhere } from './metadata.ts';

/** RFC 6749, section 5.1. */
const UNCACHED = { ...JSON_TYPE, 'Cache-Control': 'no-store', Pragma: 'no-cache' };

interface Parts {
  app: AppContext;
  sites: Sites;
  clients: Clients;
  proxies: BlockList;
}

/** The endpoints where clients register, and get and revoke tokens. All clients are public: they have no secret. */
export function oauthEndpoints({ app, sites, clients, proxies }: Parts) {
  const { store, clock } = app;
  const granting = (): Granting => {
    const { oauthGrants: grants, keys } = store.desk;
    return { grants, keys, now: clock.now(), newId, random: randomBytes };
  };
  /** Runs `work` in one transaction, and records the key that it made or ended. */
  const written = <T extends Pick<Exchanged, 'made' | 'ended'>>(c: PaperContext, work: () => T): Promise<T> =>
    store.database.lock.patiently(() =>
      store.database.transact(() => {
        const done = work();
        const key = done.made ?? done.ended;
        if (key === undefined) return done;
        const who = done.made === undefined ? key.id : (key.made_by ?? '').replace('key:', '');
        const actor = { who, way: 'mcp', network: callerNetwork(callerOf(c.env, proxies)) } as const;
        const change = keyChange(done.made === undefined ? 'revoked' : 'made', key);
        recordActivity(store.desk, { paper: key.paper, now: clock.now(), newId }, actor, [change]);
        return done;
      }),
    );

  return {
    /** RFC 7591. */
    register: answering(async (c) => {
      siteAnywhere(c, sites);
      const metadata = parseJson(new Uint8Array(await c.req.arrayBuffer()));
      const network = callerNetwork(callerOf(c.env, proxies));
      const { id, name, redirect_uris, made_at } = await clients.register(metadata, network);
      return respond(
        c,
        JSON.stringify({
          client_id: id,
          client_id_issued_at: Math.floor(made_at / 1000),
          client_name: name,
          redirect_uris,
          grant_types: ['authorization_code', 'refresh_token'],
          response_types: ['code'],
          token_endpoint_auth_method: 'none',
        }),
        201,
        UNCACHED,
      );
    }),
    /** RFC 6749, sections 4.1.3 and 6, as OAuth 2.1 has them. */
    token: answering(async (c) => {
      const site = siteAnywhere(c, sites);
      const form = await readForm(c);
      const client = required(form, 'client_id');
      requireResource(form.all('resource'), site);
      const exchange = (): Exchanged => {
        const type = required(form, 'grant_type');
        if (type === 'authorization_code') {
          const redirectUri = form.text('redirect_uri') || undefined;
          const sent = { code: required(form, 'code'), verifier: required(form, 'code_verifier') };
          return exchangeCode(granting(), site.slug, { ...sent, client, redirectUri });
        }
        if (type === 'refresh_token') {
          return exchangeRefresh(granting(), site.slug, { token: required(form, 'refresh_token'), client });
        }
        throw new OAuthFault('unsupported_grant_type', 'grant_type must be authorization_code or refresh_token');
      };
      // A refusal may end a grant, so it is written, too.
      const { answer } = await written(c, exchange);
      if (answer instanceof OAuthFault) throw answer;
      return respond(c, JSON.stringify(answer), 200, UNCACHED);
    }),
    /** RFC 7009. */
    revoke: answering(async (c) => {
      const site = siteAnywhere(c, sites);
      const token = required(await readForm(c), 'token');
      await written(c, () => revokeToken(granting(), site.slug, token));
      return respond(c, null, 200, { 'Cache-Control': 'no-store' });
    }),
  };
}

/** Answers an `OAuthFault` as clients of OAuth expect it (RFC 6749, section 5.2). */
function answering(handle: (c: PaperContext) => Promise<Response>) {
  return (c: PaperContext): Promise<Response> =>
    handle(c).catch((error: unknown) => {
      if (!(error instanceof OAuthFault)) throw error;
      const body = { error: error.code, error_description: error.message };
      return respond(c, JSON.stringify(body), error.code === 'invalid_client' ? 401 : 400, UNCACHED);
    });
}

async function readForm(c: PaperContext): Promise<Form> {
  if (isUrlencoded(c.req.header('content-type') ?? '')) return new Form(await c.req.text());
  throw new OAuthFault('invalid_request', 'send application/x-www-form-urlencoded');
}

function required(form: Form, name: string): string {
  const value = form.text(name);
  if (value !== '') return value;
  throw new OAuthFault('invalid_request', `${name} is missing`);
}

/** Throws `invalid_target` when a client asks for a token of something else than this paper (RFC 8707). */
export function requireResource(asked: readonly string[], site: Site): void {
  const own = new Set([resourceOf(site), site.served, `${site.root}/mcp`, site.root]);
  for (const text of asked) {
    const url = URL.parse(text);
    const named = url === null ? '' : `${url.origin}${url.pathname}`.replace(/\/$/, '');
    if (!own.has(named)) {
      const message = `resource ${JSON.stringify(text.slice(0, 200))} is not this paper; ask for ${resourceOf(site)}`;
      throw new OAuthFault('invalid_target', message);
    }
  }
}
