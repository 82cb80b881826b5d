import { z } from '@hono/zod-openapi';
import type { AppContext } from '../../../src/app/context.ts';
import { CastBody, CastRow } from '../../../src/desk/cast.ts';
import { Config, configOf, MastheadRow } from '../../../src/desk/front.ts';
import { hostKey, hostOfPaper, hostProblem, normalUrl, servedAt, urlProblems } from '../../../src/desk/host.ts';
import { PersonaBody } from '../../../src/desk/masthead.ts';
import { PaperBody } from '../../../src/desk/paper.ts';
import { appendRecord, castFrom, paperFrom, personaFrom } from '../../../src/desk/record.ts';
import { castChange, personaChange } from '../../../src/desk/round-trip.ts';
import { DraftRow, draftRow } from '../../../src/desk/story.ts';
import { refusalOf } from '../../../src/fault.ts';
import { SLUG } from '../../../src/ledger/door.ts';
import type { ProveHost } from '../../../src/net/host-proof.ts';
import type { PaperContext } from '../../env.ts';
import { jsonBody } from '../../middleware/json-body.ts';
import { IDEMPOTENCY } from '../../openapi/idempotency.ts';
import { body, faults, ok } from '../../openapi/responses.ts';
import { cursorOf, cursorParam, limitParam, pageOf, readCursor } from '../../responses/paging.ts';
import { reply } from '../../responses/reply.ts';
import { archiveOf, linksFor } from '../context.ts';
import { listOf, listSchema } from '../list.ts';
import { dayParam, IdCursor } from '../params.ts';
import { operation } from '../route.ts';
import { changeSchema, merged } from './change.ts';
import { Pressing } from './filing.ts';
import type { Writer } from './write.ts';
import { requiresTerms, write } from './write.ts';

const drafts = {
  operationId: 'listDrafts',
  tags: ['Desk'],
  summary: 'Pieces that are not on air: drafts, scheduled ones, withdrawn ones',
  request: { query: z.object({ limit: limitParam(50, 200), cursor: cursorParam }) },
  responses: { 200: ok(listSchema('DraftList', 'drafts', DraftRow), 'The newest first.'), ...faults() },
};

const FullConfig = Config.extend(PaperBody.partial().shape).openapi('FullConfig', {
  description: 'A paper’s settings. An admin key sees all of them.',
});

const readConfig = {
  operationId: 'readConfig',
  tags: ['Desk'],
  summary: 'The paper’s settings',
  responses: { 200: ok(FullConfig, 'The settings.'), ...faults() },
};

const writeConfig = {
  operationId: 'writeConfig',
  tags: ['Desk'],
  summary: 'Change the paper’s settings',
  description:
    'A new `url` is taken when its host is the paper’s: the operator gives hosts, and a file or a TXT record proves them; the refusal says which. A host that is another’s is refused in the same words as one that is nobody’s.',
  before: [jsonBody()],
  request: {
    headers: IDEMPOTENCY,
    body: body(changeSchema(PaperBody, 'ConfigChange', { motto: 'How the world agrees', source_floor: 2 })),
  },
  responses: {
    200: ok(FullConfig.extend(Pressing).openapi('ChangedConfig'), 'The settings as they are now.'),
    ...faults(413, 415, 422),
  },
};

const PersonaRecord = PersonaBody.extend({ slug: z.string(), declared_ai: z.literal(true), ...Pressing }).openapi(
  'PersonaRecord',
);

/** A row of the masthead or of the video editions can be sent back as it was listed. */
const PersonaMembers = PersonaBody.extend(MastheadRow.pick({ slug: true, declared_ai: true, url: true }).shape);
const CastMembers = CastBody.extend(CastRow.omit({ title: true }).shape);

const writePersona = {
  operationId: 'writePersona',
  tags: ['Desk'],
  summary: 'Put a persona on the masthead, or change one',
  before: [jsonBody()],
  request: {
    params: z.object({
      slug: z
        .string()
        .max(60)
        .regex(SLUG, 'must be words of a–z and 0–9 joined by single hyphens')
        .openapi({
          param: { name: 'slug', in: 'path' },
          description: 'The persona’s slug; a new one adds a persona.',
          example: 'osric-tamblyn',
        }),
    }),
    headers: IDEMPOTENCY,
    body: body(
      changeSchema(PersonaMembers, 'PersonaChange', { name: 'Osric Tamblyn', title: 'Editor', beat: 'Clocks' }),
    ),
  },
  responses: { 200: ok(PersonaRecord, 'The persona.'), ...faults(413, 415, 422) },
};

const CastRecord = CastBody.extend({
  day: z.iso.date(),
  duration_s: z.int(),
  bytes: z.int(),
  media_type: z.string(),
  ...Pressing,
}).openapi('CastRecord');

const writeCast = {
  operationId: 'writeCast',
  tags: ['Desk'],
  summary: 'Publish the video edition of a day, or change it',
  description:
    'Video, poster and captions are media that the paper has already: POST /api/v1/media takes them. An agent needs the signed agreement.',
  before: [jsonBody()],
  request: {
    params: dayParam('The edition’s day, in UTC.'),
    headers: IDEMPOTENCY,
    body: body(
      changeSchema(CastMembers, 'CastChange', {
        title: 'The day in three minutes',
        video: 'media/cast/2026-11-17.mp4',
        poster: 'media/cast/2026-11-17.jpg',
      }),
    ),
  },
  responses: { 200: ok(CastRecord, 'The video edition.'), ...faults(413, 415, 422) },
};

/** The configuration that a desk reads and changes of its own paper. */
export function configHandlers(writer: Writer, prove: ProveHost) {
  const { app } = writer;
  return {
    drafts: operation(drafts, (c) => {
      const { limit, cursor } = c.req.valid('query');
      const [after] = readCursor(IdCursor, cursor);
      const found = app.store.unaired(c.get('site').slug, { limit: limit + 1, after });
      const { rows, next } = pageOf(found, limit, ({ id }) => cursorOf([id]));
      const links = linksFor(app, c);
      const shown = rows.map((row) => draftRow(row, links));
      return reply(listOf(c, 'drafts', shown, next), { page: { limit, cursor } });
    }),
    readConfig: operation(readConfig, (c) => {
      const { slug: _slug, edition: _edition, changed_at: _changed, ...record } = c.get('site').paper;
      return c.get('key')?.level === 'admin' ? record : configOf(c.get('site').paper);
    }),
    writeConfig: operation(writeConfig, async (c) => {
      const given = c.req.valid('json');
      const proof = await proofFor(writer, prove, c, given.url);
      return write(writer, c, () => {
        const archive = archiveOf(app, c);
        const { slug, edition: _edition, changed_at: _changed, ...before } = archive.paper();
        const paper = paperFrom(archive, merged(PaperBody, before, given));
        needAddress(app, { slug, before: before.url, url: paper.url, proof });
        appendOf(app, c, 'paper', '', paper);
        return { status: 200, body: paper, isShown: true };
      });
    }),
    writePersona: operation(writePersona, (c) => {
      const { slug } = c.req.valid('param');
      const given = c.req.valid('json');
      return write(writer, c, () => {
        const archive = archiveOf(app, c);
        const { slug: _slug, ...before } = archive.persona(slug) ?? { slug };
        const persona = personaFrom(
          archive,
          slug,
          merged(PersonaBody, before, personaChange(given, slug, c.get('site').root)),
        );
        appendOf(app, c, 'persona', slug, persona);
        return { status: 200, body: { ...persona, declared_ai: true }, isShown: true };
      });
    }),
    writeCast: operation(
      writeCast,
      (c) => {
        const { day } = c.req.valid('param');
        const given = c.req.valid('json');
        return write(writer, c, () => {
          const archive = archiveOf(app, c);
          const { day: _day, duration_s: _s, bytes: _b, media_type: _type, ...before } = archive.cast(day) ?? { day };
          const change = castChange(archive, given, day, c.get('site').root);
          const cast = castFrom(archive, day, merged(CastBody, before, change));
          appendOf(app, c, 'cast', day, cast);
          return { status: 200, body: { ...cast }, isShown: true };
        });
      },
      requiresTerms(app),
    ),
  };
}

/** Proves that the host of a new address belongs to the paper. Null when there is no proof or none is needed. */
async function proofFor({ app }: Writer, prove: ProveHost, c: PaperContext, given: unknown): Promise<Proof> {
  const { slug } = c.get('site');
  const { data } = PaperBody.shape.url.safeParse(given);
  if (data === undefined) return null;
  const url = normalUrl(data);
  const asked = new URL(url);
  const isThere = unchanged(app.store.paper(slug)?.url, url) || app.store.hosts.holds(slug, hostKey(asked));
  return isThere || hostProblem(asked, app.settings) !== null ? null : prove(slug, url);
}

type Proof = Awaited<ReturnType<ProveHost>>;

interface Wanted {
  slug: string;
  before: string | undefined;
  url: string | undefined;
  proof: Proof;
}

/** Throws `refused_by_door` for a new address that does not belong to the paper. Records the proof. */
function needAddress(app: AppContext, { slug, before, url, proof }: Wanted): void {
  if (url === undefined || unchanged(before, url)) return;
  const { store, settings, now } = app;
  const host = hostOfPaper({ url }) ?? '';
  const papers = store.paperSlugs().flatMap((other) => (other === slug ? [] : (store.paper(other) ?? [])));
  const problems = urlProblems(slug, url, {
    own: settings,
    ownsHost: proof !== null || store.hosts.holds(slug, host),
    others: servedAt(papers, store.hosts),
  });
  if (problems.length > 0) throw refusalOf(problems);
  if (proof !== null) store.hosts.add(slug, host, proof, now());
}

const unchanged = (before: string | undefined, url: string) => before !== undefined && normalUrl(before) === url;

function appendOf(app: AppContext, c: PaperContext, kind: 'paper' | 'persona' | 'cast', name: string, value: unknown) {
  const { slug: paper } = c.get('site');
  const before = app.store.record(paper, kind, name);
  appendRecord(app.store, { paper, kind, name, body: value, at: app.now() }, before);
}
