import { z } from '@hono/zod-openapi';
import { etag } from 'hono/etag';
import { jwks } from '../../../src/ledger/keyring.ts';
import type { Store } from '../../../src/store/store.ts';
import { faults, ok } from '../../openapi/responses.ts';
import { PUBLIC } from '../../responses/send.ts';
import { operation } from '../route.ts';

const SigningKey = z
  .object({
    kty: z.literal('OKP'),
    crv: z.literal('Ed25519'),
    x: z.string().openapi({ description: 'The public key, base64url.' }),
    kid: z.string().openapi({ description: 'RFC 7638 thumbprint, by which receipts name their key.' }),
    use: z.literal('sig'),
    alg: z.literal('EdDSA'),
    vkey: z.string().openapi({ description: 'The same key as a C2SP verifier key.' }),
    nbf: z.int().openapi({ description: 'Unix seconds of the first signature.' }),
    retired_at: z.iso
      .datetime()
      .nullable()
      .openapi({ description: 'Time after which it signed nothing; null while it signs.' }),
  })
  .openapi('SigningKey');

const spec = {
  operationId: 'readSigningKeys',
  tags: ['Public'],
  summary: 'Every key that ever signed an observation',
  description:
    'A JWKS (RFC 7517, RFC 8037), oldest first. Retired keys stay listed forever; a key that signed under several names is listed under each.',
  responses: { 200: ok(z.object({ keys: z.array(SigningKey) }).openapi('SigningKeys'), 'The keys.'), ...faults() },
};

export const readSigningKeys = ({ verifyingKeys }: Pick<Store, 'verifyingKeys'>) => ({
  ...operation(spec, (c) => c.json(jwks(verifyingKeys('records')), 200, { 'Cache-Control': PUBLIC })),
  before: [etag()],
});
