import { z } from '@hono/zod-openapi';
import { etag } from 'hono/etag';
import { yielder } from '../../../src/desk/press/yielder.ts';
import { clockNotesFor } from '../../../src/proof/clock-note.ts';
import { jwks } from '../../../src/proof/keyring.ts';
import { readsOf } from '../../../src/records/archive/reads.ts';
import { requireHost } from '../../../src/records/require-host.ts';
import { provenanceRow } from '../../../src/records/wire-rows.ts';
import type { AppContext } from '../../../src/server/context.ts';
import { logProver } from '../../../src/shared/transparency/log-tree.ts';
import type { Store } from '../../../src/store/store.ts';
import { LogProofBody, ok } from '../../openapi/responses.ts';
import { cursorOf, cursorParam, limitParam, pageOf, readCursor } from '../../responses/paging.ts';
import { PUBLIC } from '../../responses/send.ts';
import { listOf, validQuery } from '../list.ts';
import { operation, type RecordsContext } from '../route.ts';
import { domainParam } from './params.ts';
import { DomainName } from './record-schemas.ts';

const SeqCursor = z.tuple([z.int().min(1)]);

export const Provenance = listOf(
  'Provenance',
  z
    .object({
      seq: z.int().min(1),
      observed_at: z.iso.datetime(),
      record_root: z.string().describe('The Merkle root that was signed: `sha256:` and hex.'),
      receipt: z.string().describe('The signed note, verbatim.'),
      log: LogProofBody,
    })
    .openapi('ProvenanceItem'),
  {
    domain: DomainName,
    keys_url: z.url().describe('The public keys that verify these signatures.'),
    clock: z
      .array(z.string())
      .optional()
      .describe(
        'Signed corrections of a clock that ran ahead, where they cover one of the receipts: later times in those count as their true time.',
      ),
  },
);

const query = z.object({ limit: limitParam(100, 1_000), cursor: cursorParam });

const receiptsSpec = {
  operationId: 'listProvenance',
  tags: ['Domains'],
  summary: 'Receipts of every observation of a domain, newest first',
  description: 'Each receipt names the hash of the previous one in `prev`; together they form a chain without gaps.',
  request: { params: domainParam, query },
  responses: { 200: ok(Provenance, 'Newest first.') },
};

export const listProvenance = (app: AppContext) => {
  const page = provenancePage(app);
  return operation(receiptsSpec, (c) => page(c.req.valid('param').domain, c.req.valid('query')));
};

/** The same for a route outside the API, which checks no request. */
export const sendProvenance = (app: AppContext) => {
  const page = provenancePage(app);
  return (c: RecordsContext) => page(c.req.param('domain') ?? '', validQuery(c, query));
};

function provenancePage(app: AppContext) {
  const {
    store: {
      records,
      database: { log },
      desk: { clockNotes },
    },
    settings,
  } = app;
  const observations = readsOf(app);
  const prove = logProver(log, 'records');
  return async (domain: string, { limit, cursor }: z.output<typeof query>) => {
    const host = requireHost(records, domain);
    const [before] = readCursor(SeqCursor, cursor);
    const found = await observations.provenance(host, limit + 1, before);
    const { rows, next } = pageOf(found, limit, ({ seq }) => cursorOf([seq]));
    const items = [];
    // A thousand proofs take long enough for others to wait.
    const yieldTurn = yielder();
    for (const row of rows) {
      items.push(provenanceRow(row, prove(row.receipt)));
      await yieldTurn();
    }
    const clock = clockNotesFor(
      clockNotes('records', ''),
      rows.map(({ seq }) => seq),
    );
    return {
      domain: host.hostname,
      ...(clock.length === 0 ? {} : { clock }),
      keys_url: `${settings.dataOrigin}/.well-known/records-keys.json`,
      items,
      total: records.observationCount(host.id),
      next_cursor: next,
    };
  };
}

const SigningKey = z
  .object({
    kty: z.literal('OKP'),
    crv: z.literal('Ed25519'),
    x: z.string().describe('The public key, base64url.'),
    kid: z.string().describe('RFC 7638 thumbprint, by which receipts name their key.'),
    use: z.literal('sig'),
    alg: z.literal('EdDSA'),
    vkey: z.string().describe('The same key as a C2SP verifier key.'),
    nbf: z.int().describe('Unix seconds of the first signature.'),
    retired_at: z.iso.datetime().nullable().describe('Time after which it signed nothing; null while it signs.'),
  })
  .openapi('SigningKey');

const keysSpec = {
  operationId: 'readSigningKeys',
  tags: ['Public'],
  summary: 'Every key that ever signed an observation',
  description:
    'A JWKS (RFC 7517, RFC 8037), oldest first. Retired keys stay listed forever; a key that signed under several names is listed under each.',
  responses: { 200: ok(z.object({ keys: z.array(SigningKey) }).openapi('SigningKeys'), 'The keys.') },
};

export const readSigningKeys = ({ desk: { verifyingKeys } }: Store) => ({
  ...operation(keysSpec, (c) => c.json(jwks(verifyingKeys('records')), 200, { 'Cache-Control': PUBLIC })),
  before: [etag()],
});
