import { z } from '@hono/zod-openapi';
import type { AppContext } from '../../../src/app/context.ts';
import { clockNotesFor } from '../../../src/ledger/clock-note.ts';
import { yielder } from '../../../src/press/yielder.ts';
import { requireHost } from '../../../src/records/require-host.ts';
import { provenanceRow } from '../../../src/records/wire-rows.ts';
import { logProver } from '../../../src/transparency/log-proof.ts';
import { rejectInvalid } from '../../middleware/invalid.ts';
import { LogProofBody } from '../../openapi/log-proof.ts';
import { faults, ok } from '../../openapi/responses.ts';
import { cursorOf, cursorParam, limitParam, pageOf, readCursor } from '../../responses/paging.ts';
import type { RecordsContext } from '../context.ts';
import { listOf } from '../list.ts';
import { operation } from '../route.ts';
import { domainParam } from './params.ts';
import { DomainName } from './record-schemas.ts';

const SeqCursor = z.tuple([z.int().min(1)]);

export const Provenance = listOf(
  'Provenance',
  z
    .object({
      seq: z.int().min(1),
      observed_at: z.iso.datetime(),
      record_root: z.string().openapi({ description: 'The Merkle root that was signed: `sha256:` and hex.' }),
      receipt: z.string().openapi({ description: 'The signed note, verbatim.' }),
      log: LogProofBody,
    })
    .openapi('ProvenanceItem'),
  {
    domain: DomainName,
    keys_url: z.url().openapi({ description: 'The public keys that verify these signatures.' }),
    clock: z.array(z.string()).optional().openapi({
      description:
        'Signed corrections of a clock that ran ahead, where they cover one of the receipts: later times in those count as their true time.',
    }),
  },
);

const query = z.object({ limit: limitParam(100, 1_000), cursor: cursorParam });

const spec = {
  operationId: 'listProvenance',
  tags: ['Domains'],
  summary: 'Receipts of every observation of a domain, newest first',
  description: 'Each receipt names the hash of the previous one in `prev`; together they form a chain without gaps.',
  request: { params: domainParam, query },
  responses: { 200: ok(Provenance, 'Newest first.'), ...faults() },
};

type App = Pick<AppContext, 'store' | 'settings'>;

export const listProvenance = (app: App) => {
  const page = provenancePage(app);
  return operation(spec, (c) => page(c.req.valid('param').domain, c.req.valid('query')));
};

/** The same for a route outside the API, which checks no request. */
export const sendProvenance = (app: App) => {
  const page = provenancePage(app);
  return (c: RecordsContext) => {
    const data = c.req.query();
    const parsed = query.safeParse(data);
    if (parsed.success) return page(c.req.param('domain') ?? '', parsed.data);
    return rejectInvalid({ ...parsed, target: 'query', data });
  };
};

function provenancePage({ store: { records, log, clockNotes }, settings }: App) {
  const prove = logProver(log, 'records');
  return async (domain: string, { limit, cursor }: z.output<typeof query>) => {
    const host = requireHost(records, domain);
    const [before] = readCursor(SeqCursor, cursor);
    const { rows, next } = pageOf(records.provenance(host.id, limit + 1, before), limit, ({ seq }) => cursorOf([seq]));
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
