import { randomBytes } from 'node:crypto';
import { html } from 'hono/html';
import { reaches } from '../../../src/desk/papers/keys.ts';
import { allow, OAuthFault, requireChallenge, SCOPES, scopesFor } from '../../../src/desk/papers/oauth.ts';
import { mayRedirect, type OAuthClient } from '../../../src/desk/papers/oauth-client.ts';
import { Fault } from '../../../src/shared/fault.ts';
import type { PaperContext } from '../../env.ts';
import { setHeader } from '../../responses/headers.ts';
import { PRIVATE } from '../../responses/send.ts';
import { archiveOf } from '../context.ts';
import type { Clients } from '../oauth/clients.ts';
import { requireResource } from '../oauth/endpoints.ts';
import { type ConsoleParts, consolePage, type Shown } from './page.ts';
import { type ConsoleContext, readOwnForm } from './session.ts';

/** What a client asks a seat to allow (RFC 6749, section 4.1.1). */
interface Asked {
  client: OAuthClient;
  redirectUri: string;
  challenge: string;
  scope: string | undefined;
}

/** A request that was checked: what to ask the seat, or where to send the browser with an error. */
type Checked = { asked: Asked } | { back: string };

/** The page on which a seat allows a client to act for it, and its form. */
export function authorizePages(parts: ConsoleParts, clients: Clients) {
  const { app } = parts;
  return {
    show: async (c: ConsoleContext): Promise<Response> => {
      const query = new URL(c.req.url).searchParams;
      const checked = await check(c, clients, query);
      if ('back' in checked) return c.redirect(checked.back, 303);
      const { asked } = checked;
      const page = consolePage(parts, 'read', () => shown(parts, c, asked, query));
      const response = await page(c);
      // Browsers apply form-action to the redirect that answers the form, too.
      const policy = response.headers.get('Content-Security-Policy') ?? '';
      response.headers.set(
        'Content-Security-Policy',
        policy.replace("form-action 'self'", `form-action 'self' ${sourceOf(asked.redirectUri)}`),
      );
      return response;
    },
    decide: async (c: ConsoleContext): Promise<Response> => {
      const form = await readOwnForm(c);
      const query = new URLSearchParams(form.text('asked'));
      const checked = await check(c, clients, query);
      if ('back' in checked) return c.redirect(checked.back, 303);
      const { client, redirectUri, challenge, scope } = checked.asked;
      const answer = answerTo(c, redirectUri, query);
      if (form.oneOf('decision', ['allow', 'deny']) === 'deny') {
        return c.redirect(
          answer({ error: 'access_denied', error_description: 'the holder of the seat denied access' }),
          303,
        );
      }
      const seat = c.get('key');
      const chosen = form.oneOf('scope', SCOPES);
      const persona = form.text('persona') || null;
      if (!scopesFor(seat, scope).includes(chosen)) {
        throw new Fault(
          'invalid_request',
          `scope ${chosen} is not what the client asked for, or exceeds what your seat may do`,
        );
      }
      if (persona !== null && archiveOf(app, c).persona(persona)?.active !== true) {
        throw new Fault('invalid_request', 'persona is not an active persona of this desk; choose one of the list');
      }
      const { database, desk } = app.store;
      const from = { grants: desk.oauthGrants, keys: desk.keys, random: randomBytes, now: app.clock.now() };
      const granted = { client, scope: chosen, persona, redirectUri, challenge };
      const code = await database.lock.patiently(() => database.transact(() => allow(from, seat, granted)));
      return c.redirect(answer({ code }), 303);
    },
  };
}

/**
 * Comes before the check for a session. Browsers send no cookie of the console with a link of another site, so the
 * page opens itself once more.
 */
export function openAgain(c: PaperContext, next: () => Promise<void>): Promise<unknown> {
  if (c.get('session') !== undefined || c.req.header('sec-fetch-site') !== 'cross-site') return next();
  const { search } = new URL(c.req.url);
  setHeader(c, 'Cache-Control', PRIVATE);
  setHeader(c, 'Content-Security-Policy', "default-src 'none'; frame-ancestors 'none'");
  return Promise.resolve(
    c.html(html`<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="robots" content="noindex"><meta http-equiv="refresh" content="0;url=${search}"><title>Signing in</title></head>
<body><p><a href="${search}">Go on</a></p></body>
</html>`),
  );
}

/** Checks a request. Throws `invalid_request` where the client or its address is in doubt: then nobody is redirected. */
async function check(c: ConsoleContext, clients: Clients, query: URLSearchParams): Promise<Checked> {
  const one = (name: string): string | undefined => {
    const [value, another] = query.getAll(name);
    if (another === undefined) return value;
    throw new OAuthFault('invalid_request', `${name} was sent more than once`);
  };
  let redirectUri: string;
  let client: OAuthClient;
  try {
    client = await clients.find(one('client_id') ?? '');
    redirectUri = one('redirect_uri') ?? (client.redirect_uris.length === 1 ? (client.redirect_uris[0] ?? '') : '');
  } catch (error) {
    if (!(error instanceof OAuthFault)) throw error;
    throw new Fault('invalid_request', error.message, { field: 'client_id' });
  }
  if (!mayRedirect(client, redirectUri)) {
    const message = `redirect_uri ${JSON.stringify(redirectUri.slice(0, 200))} is not an address of ${client.name}; nothing was sent there`;
    throw new Fault('invalid_request', message, { field: 'redirect_uri' });
  }
  try {
    if (one('response_type') !== 'code')
      throw new OAuthFault('unsupported_response_type', 'response_type must be code');
    const challenge = requireChallenge(one('code_challenge'), one('code_challenge_method'));
    requireResource(query.getAll('resource'), c.get('site'));
    one('state');
    return { asked: { client, redirectUri, challenge, scope: one('scope') } };
  } catch (error) {
    if (!(error instanceof OAuthFault)) throw error;
    return { back: answerTo(c, redirectUri, query)({ error: error.code, error_description: error.message }) };
  }
}

/** The redirect to a client, with `state` as it was sent and this server's name (RFC 9207). */
const answerTo =
  (c: ConsoleContext, redirectUri: string, query: URLSearchParams) => (members: Record<string, string>) => {
    const url = new URL(redirectUri);
    const state = query.get('state');
    const all = { ...members, ...(state === null ? {} : { state }), iss: c.get('site').served };
    for (const [name, value] of Object.entries(all)) url.searchParams.set(name, value);
    return url.href;
  };

function shown(
  { app }: ConsoleParts,
  c: ConsoleContext,
  { client, redirectUri, scope }: Asked,
  query: URLSearchParams,
): Shown {
  const seat = c.get('key');
  const { protocol, host } = new URL(redirectUri);
  const document = URL.parse(client.id);
  return [
    '/console/authorize',
    'A program asks to act for you',
    {
      client: { name: client.name, known: document?.host ?? null },
      leads:
        protocol === 'https:'
          ? host
          : protocol === 'http:'
            ? 'a program on this computer'
            : `the program for ${protocol} links`,
      scopes: scopesFor(seat, scope),
      isReader: !reaches(seat.level, 'admin'),
      personas: archiveOf(app, c)
        .masthead()
        .map(({ slug, name }) => ({ slug, name })),
      asked: query.toString(),
    },
  ];
}

/** A redirect's address as a source of a Content-Security-Policy, which knows no IPv6 addresses. */
function sourceOf(redirectUri: string): string {
  const { protocol, origin, hostname } = new URL(redirectUri);
  return /^https?:$/.test(protocol) && !hostname.startsWith('[') ? origin : protocol;
}
