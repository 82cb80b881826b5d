import { randomBytes } from 'node:crypto';
import { z } from '@hono/zod-openapi';
import { isoTime } from '../../../../src/proof/time.ts';
import {
  CHECKS_DAILY,
  LOOKS_DAILY,
  MISSING_FOR,
  NOTE_MAX,
  PROOF_WAYS,
  PROOFS_MAX,
} from '../../../../src/records/accounts/owner.ts';
import { eventRow } from '../../../../src/records/accounts/owner-row.ts';
import { hostnameOfField } from '../../../../src/records/hostname.ts';
import type { askedCheck } from '../../../../src/records/jobs/owner-checks.ts';
import type { lookAtOnce } from '../../../../src/records/jobs/owner-look.ts';
import {
  beginProof,
  giveUpProof,
  optRowOf,
  ownedRow,
  putNote,
  removeNote,
  requireProof,
  setOpt,
} from '../../../../src/records/owners.ts';
import { deltaRow } from '../../../../src/records/wire-rows.ts';
import type { AppContext } from '../../../../src/server/context.ts';

import { body, faults, IDEMPOTENCY, ok } from '../../../openapi/responses.ts';
import { reply } from '../../../responses/reply.ts';
import { listOf, wholeList } from '../../list.ts';
import { operation } from '../../route.ts';
import { Delta, FullRecord, OwnerNote } from '../record-schemas.ts';
import { accountOf, accountOperations, changeOnce } from './change.ts';

const time = z.iso.datetime();
const Opt = z
  .object({
    hostname: z.string(),
    opted_out: z.boolean(),
    by: z
      .enum(['you', 'another_owner', 'operator'])
      .nullable()
      .describe('Whose opt-out is in force; of several, the operator’s, then another owner’s.'),
    name: z.string().nullable().describe('The opted-out name: this one, or one above it.'),
    since: time.nullable(),
  })
  .openapi('OptState');
const OwnedName = z
  .object({
    hostname: z.string().describe('In A-labels.'),
    unicode: z.string(),
    registrable_domain: z.string(),
    state: z
      .enum(['unproven', 'proven', 'missing', 'revoked'])
      .describe('`missing` is proven still, until `ends_at`. `revoked`: by the operator.'),
    way: z.enum(PROOF_WAYS).nullable().describe('Where the proof in force was found last.'),
    txt: z.object({ name: z.string(), value: z.string() }).describe('The TXT record that proves it.'),
    file: z.object({ url: z.url(), content: z.string() }).describe('Or the file; it may have other lines.'),
    made_at: time,
    proven_at: time.nullable(),
    found_at: time.nullable(),
    checked_at: time.nullable(),
    checks: z
      .array(
        z.object({
          way: z.enum(PROOF_WAYS),
          outcome: z.enum(['found', 'absent', 'unknown']),
          detail: z.string().describe('A word that stays the same, such as `nxdomain` or `status_404`.'),
          message: z.string(),
        }),
      )
      .nullable()
      .describe('What the last check found.'),
    next_check_at: time.nullable(),
    missing_since: time.nullable(),
    ends_at: time.nullable().describe('When the proof ends, if it is still missing then.'),
    revoked_at: time.nullable(),
    revoked_for: z.string().nullable(),
    opt: Opt,
    looks: z
      .object({ left: z.int().min(0), of: z.int(), resets_at: time })
      .describe('Immediate observations of this hostname on this UTC day.'),
  })
  .openapi('OwnedName', { description: 'A name that the account proves, or has begun to prove.' });
const OwnedNameLog = OwnedName.safeExtend({
  events: z
    .array(
      z.object({
        event: z.string(),
        at: time,
        made_by: z.string().describe('`account`, `job`, or `cli` for the operator.'),
      }),
    )
    .describe('What happened, newest first.'),
}).openapi('OwnedNameLog');
const Checked = OwnedName.safeExtend({
  alert: z
    .string()
    .nullable()
    .describe('The id of the mail alert that a first proof makes, if no alert of the account covers the name.'),
}).openapi('CheckedName');
const NameBody = z
  .object({ hostname: z.string().max(1_000) })
  .openapi('OwnedNameBody', { example: { hostname: 'example.com' } });
const Look = z
  .object({
    record: FullRecord,
    changes: z.array(Delta).describe('What the observation showed to be different.'),
    looks_left: z.int().min(0),
  })
  .openapi('OwnerLook');
const OptBody = z
  .object({ opt: z.enum(['in', 'out'], { error: 'must be in or out' }) })
  .openapi('OptBody', { example: { opt: 'out' } });
const NoteBody = z
  .object({ note: z.string().max(10_000).describe(`One line of plain text, of 1 to ${NOTE_MAX} characters.`) })
  .openapi('OwnerNoteBody', { example: { note: 'We moved our mail to another provider, as planned.' } });
const OwnNote = OwnerNote.omit({ text: true })
  .extend({ seq: z.int().min(1), hostname: z.string(), note: z.string(), shown: z.boolean() })
  .openapi('OwnNote', { description: 'A note of the account. It is not shown while its name is not proven.' });
const nameParams = z.object({
  hostname: z.string().openapi({
    param: { name: 'hostname', in: 'path' },
    description: 'The name, in Unicode or A-labels.',
    example: 'example.com',
  }),
});
const seqParams = z.object({
  seq: z.coerce
    .number('must be the number of a change')
    .int('must be the number of a change')
    .min(1, 'must be the number of a change')
    .max(Number.MAX_SAFE_INTEGER, 'must be the number of a change')
    .openapi({ param: { name: 'seq', in: 'path' }, type: 'integer', description: 'The number of the change.' }),
});

interface Asking {
  check: ReturnType<typeof askedCheck>;
  look: ReturnType<typeof lookAtOnce>;
}

/** The names of an account. Checks and looks ask other machines, so they take no Idempotency-Key: each one counts. */
export function nameOperations(app: AppContext, { check, look }: Asking) {
  const { store, settings } = app;
  const { owners } = store.records;
  const { reads, changes } = accountOperations(app);
  const notesOf = (account: string) =>
    owners.notes(account).map(({ delta: seq, at, isShown: shown, ...note }) => ({
      ...{ seq, ...note, shown },
      written_at: isoTime(at),
    }));
  return {
    list: reads(
      {
        operationId: 'listNames',
        summary: 'The names that the account proves to be its own',
        responses: { 200: ok(listOf('OwnedNames', OwnedName), 'By name.') },
      },
      ({ id }) => wholeList(owners.list(id).map((proof) => ownedRow(app, proof))),
    ),
    begin: operation(
      {
        tags: ['Account'],
        operationId: 'beginName',
        summary: 'Begin to prove a name; the answer has the record and the file that prove it',
        description: `The record and the file stay the same for this account and name. An account has at most ${PROOFS_MAX} names. A public suffix cannot be proven.`,
        request: { headers: IDEMPOTENCY, body: body(NameBody) },
        responses: { 201: ok(OwnedName, 'The name.'), ...faults(409, 421) },
      },
      async (c) => {
        const { body: row } = await changeOnce(app, c, 201, () => {
          const host = hostnameOfField(c.req.valid('json').hostname, 'hostname');
          return ownedRow(app, beginProof(app, accountOf(app, c).id, host, randomBytes));
        });
        const headers = { Location: `${settings.dataOrigin}/v1/account/names/${row.hostname}` };
        return reply(row, { status: 201, headers });
      },
    ),
    show: reads(
      {
        operationId: 'readName',
        summary: 'One name, with its proof and what happened to it',
        request: { params: nameParams },
        responses: { 200: ok(OwnedNameLog, 'The name.') },
      },
      ({ id }, c) => {
        const proof = requireProof(app, id, c.req.valid('param').hostname);
        return { ...ownedRow(app, proof), events: owners.events(proof.name, id).map(eventRow) };
      },
    ),
    giveUp: changes(
      {
        operationId: 'giveUpName',
        summary: 'Give a name up, with the notes on its changes',
        description: 'An opt-out stays in force; opt the name in before, if it is to be shown.',
        request: { params: nameParams },
        responses: { 200: ok(OwnedName, 'The name as it was.'), ...faults(409) },
      },
      ({ id }, c) => ownedRow(app, giveUpProof(app, id, c.req.valid('param').hostname)),
    ),
    check: operation(
      {
        tags: ['Account'],
        operationId: 'checkName',
        summary: 'Look for the proof of a name now',
        description: `Begins the name if need be. The proof is looked for in the TXT record and, over HTTPS alone and without redirects, in the file; it is checked again every 30 days. Only a certain answer ends a proof: two without it, at least ${MISSING_FOR / 86_400_000} days apart. An account has at most ${CHECKS_DAILY} checks per UTC day, one at a time.`,
        request: { params: nameParams },
        responses: { 200: ok(Checked, 'The name after the check, proven or not.'), ...faults(409) },
      },
      async (c) => {
        const host = hostnameOfField(c.req.valid('param').hostname, 'hostname');
        const { proof, alert } = await check(beginProof(app, accountOf(app, c).id, host, randomBytes));
        return { ...ownedRow(app, proof), alert };
      },
    ),
    look: operation(
      {
        tags: ['Account'],
        operationId: 'lookAtName',
        summary: 'Observe a watched hostname of a proven owner at once',
        description: `The hostname is proven, or below a proven name. The observation is signed and kept like any other, and public as far as any other. At most ${LOOKS_DAILY} per hostname and UTC day, over all accounts; one that came to nothing is not counted.`,
        request: { params: nameParams },
        responses: { 200: ok(Look, 'The observation.'), ...faults(409) },
      },
      async (c) => {
        const { record, changes: found, left } = await look(accountOf(app, c).id, c.req.valid('param').hostname);
        return { record, changes: found.map(deltaRow), looks_left: left };
      },
    ),
    opt: changes(
      {
        operationId: 'optName',
        summary: 'Opt a proven name, with the names below it, out of this service or in again',
        description:
          'At once: an opted-out name is neither probed nor shown, and its receipts stay valid. It may be below a proven name. Between two owners an opt-out wins: an opt-in lifts the account’s own, and those of accounts that are owners no more, but not that of another owner or of the operator. The answer says what is in force.',
        request: { params: nameParams, body: body(OptBody) },
        responses: { 200: ok(Opt, 'What is in force now.'), ...faults(409) },
      },
      ({ id }, c) => {
        const { hostname } = setOpt(app, id, c.req.valid('param').hostname, c.req.valid('json').opt);
        return optRowOf(app, id, hostname);
      },
    ),
    notes: reads(
      {
        operationId: 'listNotes',
        summary: 'The account’s notes on changes of its names',
        responses: { 200: ok(listOf('OwnNotes', OwnNote), 'Those on the newest changes first.') },
      },
      ({ id }) => wholeList(notesOf(id)),
    ),
    putNote: changes(
      {
        operationId: 'putNote',
        summary: 'Put a note beside a change of a proven name, or replace it',
        description:
          'Everyone sees it as the owner’s words, on pages and as `owner_note` of the change, while the name is proven. Of two owners’ notes the newer one is shown.',
        request: { params: seqParams, body: body(NoteBody) },
        responses: { 200: ok(OwnNote, 'The note.'), ...faults(409) },
      },
      ({ id }, c) => {
        const { seq } = c.req.valid('param');
        putNote(app, id, seq, c.req.valid('json').note);
        return noteOf(notesOf(id), seq);
      },
    ),
    removeNote: changes(
      {
        operationId: 'removeNote',
        summary: 'Remove a note',
        request: { params: seqParams },
        responses: { 200: ok(OwnNote, 'The note as it was.') },
      },
      ({ id }, c) => {
        const { seq } = c.req.valid('param');
        const before = notesOf(id);
        removeNote(app, id, seq);
        return { ...noteOf(before, seq), shown: false };
      },
    ),
  };
}

function noteOf<Note extends { seq: number }>(notes: Note[], seq: number): Note {
  const note = notes.find((one) => one.seq === seq);
  if (note === undefined) throw new Error(`no note on change ${seq}`);
  return note;
}
