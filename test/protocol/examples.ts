import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import canonicalize from 'canonicalize';
import { Hono } from 'hono';
import { pino } from 'pino';
import type { RecordsEnv } from '../../api/env.ts';
import { answerFault } from '../../api/middleware/fault.ts';
import { menuAnswer } from '../../api/records/lanes/menu.ts';
import { carryHeaders } from '../../api/responses/headers.ts';
import { exportLedger } from '../../src/desk/ingest/ledger-export.ts';
import { archiveText } from '../../src/proof/archive-note.ts';
import { basisOf, contentHash, sha256 } from '../../src/proof/basis.ts';
import { toHex } from '../../src/proof/bytes.ts';
import { clockText } from '../../src/proof/clock-note.ts';
import { dumpText } from '../../src/proof/dump-note.ts';
import { signerFrom } from '../../src/proof/ed25519.ts';
import { evidenceText } from '../../src/proof/evidence-note.ts';
import { factHash } from '../../src/proof/fact-hash.ts';
import { type FactVersion, factText } from '../../src/proof/fact-note.ts';
import { jwks, thumbprint, type VerifyingKey, vkey } from '../../src/proof/keyring.ts';
import { leafText } from '../../src/proof/log/leaf.ts';
import { tlogProofText } from '../../src/proof/log/log-proof.ts';
import { receiptHashLeaf } from '../../src/proof/log/logged-entries.ts';
import { tilePath } from '../../src/proof/log/tile.ts';
import { leafHash } from '../../src/proof/merkle.ts';
import { signedText } from '../../src/proof/note.ts';
import { proofOf } from '../../src/proof/proof.ts';
import { citedObservation, fieldsOf, renderedObservation } from '../../src/proof/records/cited-observation.ts';
import { disclosuresOf, observe } from '../../src/proof/records/observation.ts';
import { previewOf } from '../../src/proof/records/preview.ts';
import type { DomainRecord } from '../../src/proof/records/record.ts';
import { reviewText } from '../../src/proof/review-note.ts';
import { type Signer, signNote, signReceipt } from '../../src/proof/signing.ts';
import { NETWORKS } from '../../src/records/meter/offer.ts';
import { parsePrices } from '../../src/records/meter/payment-settings.ts';
import type { Settings } from '../../src/server/env.ts';
import { newKeyText } from '../../src/shared/access-key.ts';
import { Fault } from '../../src/shared/fault.ts';
import { signatureHeaders } from '../../src/shared/outbound/dispatcher.ts';
import { eventBody } from '../../src/shared/outbound/webhook-url.ts';
import { addCheckpointBody } from '../../src/signing/log/witness.ts';
import { ed25519Witness, MemoryLog } from '../support/log.ts';

/** The examples of docs/protocol.md, by name, made by the code that the protocol describes. */

const seed = (byte: number) => new Uint8Array(32).fill(byte);
const FILED = '2026-11-21T07:06:00.000Z';
const NBF = Date.parse('2026-11-01T00:00:00.000Z');
const pretty = (value: unknown) => `${JSON.stringify(value, null, 2)}\n`;

function keyOf({ name, publicKey }: Signer): VerifyingKey {
  return { kid: thumbprint(publicKey), name, publicKey, nbf: NBF, retired_at: null };
}

export async function protocolExamples(): Promise<Record<string, string>> {
  const door = signerFrom('papers.example/door', seed(1));
  const dataDoor = signerFrom('data.example/door', seed(1));
  const key = keyOf(door);

  const piece = {
    id: '01jd000000000000000000000a',
    revision: 1,
    headline: 'The tide turned at six',
    dek: 'No gate was closed',
    prose: 'It turned.[^1]\n\nNobody “closed” it.[^2]',
    cited_facts: [
      { n: 1, statement: 'It turned.', source: 'Harbour Office', instrument: 'https://a.example/', claim_key: null },
      { n: 2, statement: 'It was open.', source: 'Town Register', instrument: 'Folio 12', claim_key: null },
    ],
    category: 'Port',
    kind: 'news' as const,
    byline: { name: 'Inês Calloway', title: 'Editor' },
    credit: null,
    authors: [],
    written_by: null,
    provenance: null,
  };
  const content_hash = contentHash(basisOf(piece));
  const receipt = signReceipt(
    {
      paper: 'harbor-ledger',
      piece: piece.id,
      revision: 1,
      content_hash,
      prev: null,
      seq: 1,
      filed_at: FILED,
      filed_by: 'cli',
      kid: key.kid,
    },
    door,
  );
  const clock = signNote(
    clockText({
      service: 'desk',
      paper: 'harbor-ledger',
      of: 'receipts',
      seqs: { first: 1, last: 1 },
      true_time: '2026-11-20T07:06:00.000Z',
      kid: key.kid,
    }),
    door,
  );

  const record: Partial<DomainRecord> = {
    domain: 'xn--bcher-kva.example',
    observed_at: FILED,
    registrable_domain: 'xn--bcher-kva.example',
    'signals.NS': {
      status: 'ok',
      ttl: 300,
      values: ['ns1.example', 'ns2.example'],
      transport: 'udp',
      rtt_ms: 7,
      flags: { aa: false, ad: true, tc: false },
    },
    summary: { NS: 2 },
    unicode: 'bücher.example',
    wildcard: null,
  };
  const observation = observe(
    { record: record as DomainRecord, seq: 7, prev: null, seed: seed(5) },
    {
      signer: dataDoor,
      kid: key.kid,
    },
  );
  const disclosures = disclosuresOf(record, seed(5));
  const seen = renderedObservation({ seq: 7 }, fieldsOf(citedObservation(previewOf(observation))));

  const log = new MemoryLog();
  const leaves = {
    key: leafText({
      kind: 'key',
      service: 'desk',
      kid: key.kid,
      x: Buffer.from(door.publicKey).toString('base64url'),
      nbf: new Date(NBF).toISOString(),
    }),
    draft: receiptHashLeaf(receipt.note),
    withdrawal: leafText({
      kind: 'withdrawal',
      paper: 'harbor-ledger',
      piece: piece.id,
      at: '2026-11-22T07:06:00.000Z',
      reason: sha256('It was wrong.'),
    }),
    retired: leafText({ kind: 'key-retired', service: 'desk', kid: key.kid, retired_at: '2027-01-01T00:00:00.000Z' }),
  };
  log.append([leaves.key, receipt.note, leaves.withdrawal]);
  const witness = ed25519Witness('witness.example/w1', 4);
  const cosigned = witness.cosign(log.checkpoint(), 1_795_244_800);
  const path = log.tree().inclusionProof(1);
  const tlogProof = tlogProofText({ index: 1, path, checkpoint: cosigned, extra: null });
  const proof = proofOf(piece, {
    generations: [
      {
        revision: 1,
        seq: 1,
        content_hash,
        receipt_hash: receipt.receipt_hash,
        filed_at: FILED,
        kid: key.kid,
        receipt: receipt.note,
      },
    ],
    keys: [key],
    keysUrl: 'https://papers.example/harbor-ledger/.well-known/newsdesk-keys.json',
    log: { origin: log.origin, index: 1, tlog_proof: tlogProof },
  });

  const fact: FactVersion = {
    ...{ claim_key: 'harbour-tonnage-2025', version: 1, statement: 'The port moved 41 million tonnes in 2025.' },
    ...{ source: 'Port Authority', instrument: 'https://port.example/2025', quote: '41 million tonnes' },
    ...{ status: 'standing', note: null },
  };
  const secret = `whsec_${Buffer.from(seed(6)).toString('base64')}`;
  const body = eventBody('webhook.test', Date.parse(FILED), { paper: 'harbor-ledger', webhook: 'w1' });

  return {
    keys: `seed      ${toHex(seed(1))}
public    ${toHex(door.publicKey)}
kid       ${key.kid}
verifier  ${vkey(door.name, door.publicKey)}
`,
    'key document': pretty(jwks([key])),
    basis: `${canonicalize(basisOf(piece))}\n`,
    'content hash': `${content_hash}\n`,
    receipt: receipt.note,
    'receipt hash': `${sha256(signedText(receipt.note))}\n`,
    proof: pretty(proof),
    disclosures: disclosures.map((text) => `${text}\n`).join(''),
    'disclosure hashes': disclosures.map((text) => `${toHex(leafHash(text))}\n`).join(''),
    observation: observation.receipt,
    preview: pretty(withoutTexts({ ...previewOf(observation) })),
    'fact basis': `${canonicalize({ v: 1, ...fact })}\n`,
    fact: signNote(
      factText({
        ...{ paper: 'harbor-ledger', claim_key: fact.claim_key, version: 1, fact_hash: factHash(fact), prev: null },
        ...{ seq: 1, signed_at: FILED, signed_by: 'key:01jd', kid: key.kid },
      }),
      door,
    ),
    review: signNote(
      reviewText({
        ...{ paper: 'harbor-ledger', piece: piece.id, revision: 1, reviewed_by: 'Ida Quist', role: 'Managing editor' },
        ...{ reviewed_at: '2026-11-21T09:30:00.000Z', seq: 1, kid: key.kid },
      }),
      door,
    ),
    evidence: signNote(
      evidenceText({
        ...{ paper: 'harbor-ledger', subject: { piece: piece.id, n: 1 }, fact_version: 1 },
        ...{ instrument: piece.cited_facts[0]?.instrument ?? '', read_at: '2026-11-20T07:08:30.000Z', status: 200 },
        ...{
          body: sha256('<p>The harbour is twelve metres deep.</p>'),
          text: sha256('The harbour is twelve metres deep.'),
        },
        ...{ quote: { start: 0, end: 33 }, sought: sha256('The harbour is twelve metres deep'), seq: 1, kid: key.kid },
      }),
      door,
    ),
    'observation text': `${seen}\n`,
    'observed evidence': signNote(
      evidenceText({
        ...{ paper: 'harbor-ledger', subject: { claim_key: 'buecher-servers' }, fact_version: 1 },
        ...{ instrument: 'https://data.example/t/xn--bcher-kva.example?as_of=2026-11-21', read_at: FILED, status: 200 },
        ...{ body: sha256(pretty(previewOf(observation))), text: sha256(seen), quote: null, sought: null },
        observation: { receipt: observation.receipt_hash, observed_by: vkey(dataDoor.name, dataDoor.publicKey) },
        ...{ seq: 2, kid: key.kid },
      }),
      door,
    ),
    'archive note': signNote(
      archiveText({
        ...{ generation: 2, through: 1_000, manifest: sha256('{}'), prev: sha256('archive/v1\n') },
        ...{ signed_at: '2026-11-22T01:00:00.000Z', kid: key.kid },
      }),
      door,
    ),
    'dump note': signNote(
      dumpText({
        ...{ day: '2026-11-21', generation: 2, rows: 41, parquet: sha256('PAR1'), ndjson: sha256('{}\n') },
        ...{ prev: sha256('dump/v1\n'), signed_at: '2026-11-22T02:00:00.000Z', kid: key.kid },
      }),
      door,
    ),
    clock,
    'key leaf': leaves.key,
    'receipt-hash leaf': leaves.draft,
    'withdrawal leaf': leaves.withdrawal,
    'key-retired leaf': leaves.retired,
    bundle: `${toHex(log.file({ level: 'entries', index: 0, width: 3 }).subarray(0, 18))}…\n`,
    'tile paths': [
      tilePath({ level: 0, index: 0, width: 3 }),
      tilePath({ level: 'entries', index: 0, width: 3 }),
      tilePath({ level: 1, index: 1_234_067, width: 256 }),
    ]
      .map((text) => `${text}\n`)
      .join(''),
    checkpoint: cosigned,
    'add-checkpoint': addCheckpointBody(1, log.tree().consistencyProof(1), log.checkpoint()),
    policy: `log ${log.vkey} https://papers.example/log/
witness one ${witness.vkey} https://w1.example/
quorum one
`,
    'tlog-proof': tlogProof,
    error: await errorText('application/json'),
    problem: await errorText('application/problem+json'),
    ...(await menu()),
    'access key': `${newKeyText('drs_', (n) => new Uint8Array(n).fill(7))}\n`,
    webhook: [
      `secret: ${secret}`,
      ...Object.entries(signatureHeaders(secret, 'msg_01jd', body, Date.parse(FILED))).map(
        ([name, value]) => `${name}: ${value}`,
      ),
      '',
      body,
      '',
    ].join('\n'),
    'ledger export': await ledgerExport(key),
  };
}

/** A preview without its sentences for people, which any server may word as it likes. */
function withoutTexts({ notice: _, held_back, ...rest }: ReturnType<typeof previewOf>) {
  return { ...rest, held_back: { fields: held_back.fields } };
}

async function errorText(accept: string): Promise<string> {
  const app = new Hono().use(carryHeaders).get('/', () => {
    throw new Fault('invalid_request', 'limit: "many": must be a whole number from 1 to 200', { field: 'limit' });
  });
  app.onError(answerFault(pino({ level: 'silent' }), (error) => error));
  const response = await app.request('/', { headers: { accept } });
  return `HTTP/1.1 ${response.status} Bad Request
Content-Type: ${response.headers.get('content-type')}
Cache-Control: ${response.headers.get('cache-control')}
Vary: ${response.headers.get('vary')}

${await response.text()}
`;
}

async function menu(): Promise<Record<string, string>> {
  const [network] = NETWORKS;
  if (network === undefined) throw new Error('there is no network');
  const settings = {
    dataOrigin: 'https://data.example',
    x402: { network, asset: network.usdc, payTo: `0x${'ab'.repeat(20)}`, prices: parsePrices([]), rpc: null },
  } as unknown as Settings;
  const app = new Hono<RecordsEnv>().use(carryHeaders);
  app.get('/v1/changes', (c) => {
    c.set('plans', () => []);
    return menuAnswer(c, settings);
  });
  const response = await app.request('https://data.example/v1/changes?limit=2');
  const required = Buffer.from(response.headers.get('PAYMENT-REQUIRED') ?? '', 'base64').toString('utf8');
  // The sentences are for people.
  const worded = (json: string) => pretty({ ...JSON.parse(json), [json === required ? 'error' : 'message']: '…' });
  return { menu: worded(await response.text()), 'payment required': worded(required) };
}

async function ledgerExport({ kid, name, publicKey }: VerifyingKey): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'protocol-'));
  try {
    const file = join(folder, 'ledger.jsonl');
    const log = { size: () => 0, entries: () => [], heads: () => [], cosignatures: () => [] };
    const public_key = Buffer.from(publicKey).toString('base64');
    const store = { entries: () => [{ type: 'key', at: NBF, kid, name, public_key }], log };
    await exportLedger({ store, media: { pathOf: () => '' } } as unknown as Parameters<typeof exportLedger>[0], file);
    return readFileSync(file, 'utf8');
  } finally {
    rmSync(folder, { recursive: true });
  }
}
