import { createRoute, z } from '@hono/zod-openapi';
import { etag } from 'hono/etag';
import { jwks } from '../../../src/ledger/keyring.ts';
import { faults, ok } from '../../openapi/responses.ts';
import type { RecordsDoors } from '../route.ts';
import { register } from '../route.ts';

const SigningKey = z
  .object({
    kty: z.literal('OKP'),
    crv: z.literal('Ed25519'),
    x: z.string().openapi({ description: 'The public key, base64url.' }),
    kid: z.string().openapi({ description: 'RFC 7638 thumbprint; receipts name their key by it.' }),
    use: z.literal('sig'),
    alg: z.literal('EdDSA'),
    vkey: z.string().openapi({ description: 'The same key as a C2SP verifier key.' }),
    nbf: z.int().openapi({ description: 'Unix seconds: it signed nothing before.' }),
    retired_at: z.iso.datetime().nullable().openapi({ description: 'It signed nothing after; null while it signs.' }),
  })
  .openapi('SigningKey');

const route = createRoute({
  method: 'get',
  path: '/.well-known/records-keys.json',
  operationId: 'readSigningKeys',
  tags: ['Public'],
  summary: 'Every key that ever signed an observation',
  description: 'A JWKS (RFC 7517, RFC 8037), oldest first. A retired key stays listed for ever.',
  security: [{}],
  responses: { 200: ok(z.object({ keys: z.array(SigningKey) }).openapi('SigningKeys'), 'The keys.'), ...faults() },
});

/** The keys by which anybody verifies receipts. */
export function signingKeysDoor(doors: RecordsDoors): void {
  const { store } = doors.app;
  doors.router.use(route.path, etag());
  register(doors, 'public', route, (c) =>
    c.json(jwks(store.doorKeys()), 200, {
      'Cache-Control': 'public, max-age=0, s-maxage=60, stale-while-revalidate=60',
    }),
  );
}
