import { z } from '@hono/zod-openapi';
import { frontChanges } from '../../../src/desk/activity.ts';
import { SLUG } from '../../../src/desk/door/door.ts';
import {
  CastBody,
  CastMembers,
  CastRow,
  ChapterRow,
  chaptersOf,
  withoutFileProperties,
} from '../../../src/desk/papers/cast.ts';
import { Config, configOf, MastheadRow, PlacementRow, placed, placementRow } from '../../../src/desk/papers/front.ts';
import { hostKey, hostOfPaper, hostProblem, normalUrl, servedAt, urlProblems } from '../../../src/desk/papers/host.ts';
import type { ProveHost } from '../../../src/desk/papers/host-proof.ts';
import { PersonaBody } from '../../../src/desk/papers/masthead.ts';
import { PaperBody } from '../../../src/desk/papers/paper.ts';
import { castChange, castFrom, paperFrom, personaChange, personaFrom } from '../../../src/desk/papers/record.ts';
import { FrontChange } from '../../../src/desk/placement.ts';
import { placeFront } from '../../../src/desk/placing.ts';
import { DraftRow, draftRow } from '../../../src/desk/story.ts';
import { type AppContext, deskOf } from '../../../src/server/context.ts';
import { refusalOf } from '../../../src/shared/fault.ts';
import type { PaperContext } from '../../env.ts';
import { body, faults, ok } from '../../openapi/responses.ts';
import { cursorOf, cursorParam, limitParam, pageOf, readCursor } from '../../responses/paging.ts';
import { reply } from '../../responses/reply.ts';
import { archiveOf, linksFor } from '../context.ts';
import { dayParam, IdCursor, listOf, listSchema, operationsUnder, writes } from '../route.ts';
import { changeSchema, merged } from './change.ts';
import { Pressing, putRecord, requiresTerms, type Writer, write } from './write.ts';

const operation = operationsUnder('Desk');

export const DraftList = listSchema('DraftList', 'drafts', DraftRow);

const drafts = {
  operationId: 'listDrafts',
  summary: 'Pieces that are not on air: drafts, scheduled ones, withdrawn ones',
  request: { query: z.object({ limit: limitParam(50, 200), cursor: cursorParam }) },
  responses: { 200: ok(DraftList, 'The newest first.') },
};

const FullConfig = z.object({ ...Config.shape, ...PaperBody.partial().shape }).openapi('FullConfig', {
  description: 'A paper’s settings. An admin key sees all of them.',
});

const readConfig = {
  operationId: 'readConfig',
  summary: 'The paper’s settings',
  responses: { 200: ok(FullConfig, 'The settings.') },
};

const writeConfig = writes({
  operationId: 'writeConfig',
  summary: 'Change the paper’s settings',
  description:
    'A new `url` is accepted once its host is the paper’s: the operator assigns hosts, and a file or a TXT record proves them; the refusal says which. A host of another paper is refused in the same words as one that belongs to nobody.',
  request: { body: body(changeSchema(PaperBody, 'ConfigChange', { motto: 'How the world agrees', source_floor: 2 })) },
  responses: {
    200: ok(
      FullConfig.safeExtend(Pressing).openapi('ChangedConfig', {
        description: 'A paper’s settings. An admin key sees all of them.',
      }),
      'The settings as they are now.',
    ),
  },
});

const PersonaRecord = PersonaBody.safeExtend({ slug: z.string(), declared_ai: z.literal(true), ...Pressing }).openapi(
  'PersonaRecord',
);

/** A row of the masthead or of the editions can be sent back as it was listed. */
const PersonaMembers = PersonaBody.safeExtend(MastheadRow.pick({ slug: true, declared_ai: true, url: true }).shape);
const CastChange = CastMembers.safeExtend(CastRow.omit({ title: true, chapters: true }).shape);

const writePersona = writes({
  operationId: 'writePersona',
  summary: 'Put a persona on the masthead, or change one',
  request: {
    params: z.object({
      slug: z.string().max(60).regex(SLUG, 'must be words of a–z and 0–9 joined by single hyphens').openapi({
        description: 'The persona’s slug; a new one adds a persona.',
        example: 'osric-tamblyn',
      }),
    }),
    body: body(
      changeSchema(PersonaMembers, 'PersonaChange', { name: 'Osric Tamblyn', title: 'Editor', beat: 'Clocks' }),
    ),
  },
  responses: { 200: ok(PersonaRecord, 'The persona.') },
});

const CastRecord = CastMembers.safeExtend({
  day: z.iso.date(),
  chapters: z.array(ChapterRow).optional(),
  duration_s: z.int(),
  bytes: z.int(),
  media_type: z.string(),
  ...Pressing,
}).openapi('CastRecord');

const writeCast = writes({
  operationId: 'writeCast',
  summary: 'Publish the edition of a day, a video or audio, or change it',
  description:
    'Its files are media that the paper has already: POST /api/v1/media takes them. A video edition has `video`, `poster` and, if you like, `captions`; an audio edition has `audio` (MP3 or M4A) and, if you like, `poster`, `transcript` and `chapters`, which take the place of those in its file. To make one the other, send the members that go as null. An agent needs the signed agreement.',
  request: {
    params: dayParam('The edition’s day, in UTC.'),
    body: body(
      changeSchema(CastChange, 'CastChange', {
        title: 'The day in three minutes',
        video: 'media/cast/2026-11-17.mp4',
        poster: 'media/cast/2026-11-17.jpg',
      }),
    ),
  },
  responses: { 200: ok(CastRecord, 'The edition.') },
});

const EXAMPLE = {
  lead: { story: 'what-the-second-is-now', until: '2030-01-01T06:00:00Z' },
  pins: ['the-longest-night'],
};

/** A copy, because a schema that was made before `@hono/zod-openapi` was loaded has no `openapi`. */
const Body = FrontChange.clone().openapi('FrontChange', { example: EXAMPLE });

const writeFront = writes({
  operationId: 'writeFront',
  summary: 'Place pieces on the front: the lead, and up to four beside it',
  description:
    'Pieces are named by id or slug. A scheduled piece takes its place when it goes on air. With `revision` a change that was made from an older placement is refused; an empty body changes nothing and answers the placement.',
  request: { body: body(Body) },
  responses: {
    200: ok(
      z.object({ placement: PlacementRow, ...Pressing }).openapi('PlacedFront'),
      'The placement as it is now, scheduled pieces included.',
    ),
    ...faults(409),
  },
});

/** The configuration that a desk reads and changes of its own paper, and the placement of its front. */
export function configHandlers(writer: Writer, prove: ProveHost) {
  const { app } = writer;
  return {
    drafts: operation(drafts, (c) => {
      const { limit, cursor } = c.req.valid('query');
      const [after] = readCursor(IdCursor, cursor);
      const found = app.store.desk.pieces.unaired(c.get('site').slug, { limit: limit + 1, after });
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
        needAddress(app, slug, paper.url, before.url, proof);
        return putRecord(app, c, { kind: 'paper', name: '', body: paper }, paper);
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
        return putRecord(app, c, { kind: 'persona', name: slug, body: persona }, { ...persona, declared_ai: true });
      });
    }),
    writeCast: operation(
      writeCast,
      (c) => {
        const { day } = c.req.valid('param');
        const given = c.req.valid('json');
        return write(writer, c, () => {
          const archive = archiveOf(app, c);
          const current = archive.cast(day);
          const { day: _day, ...before } = current === null ? { day } : withoutFileProperties(current);
          const change = castChange(archive, given, day, c.get('site').root);
          const cast = castFrom(archive, day, merged(CastBody, before, change));
          const { file_chapters: _, ...shown } = cast;
          const chapters = cast.audio === undefined ? {} : { chapters: chaptersOf(cast) };
          return putRecord(app, c, { kind: 'cast', name: day, body: cast }, { ...shown, ...chapters });
        });
      },
      requiresTerms(app),
    ),
    writeFront: operation(writeFront, (c) => {
      const change = c.req.valid('json');
      return write(writer, c, (key) => {
        const before = archiveOf(app, c).placement();
        const placement = placeFront(deskOf(app), c.get('site').slug, change, `key:${key.id}`);
        const shown = placed(placement, archiveOf(app, c).storyById, true);
        const did = frontChanges(before, placement);
        return { status: 200, body: { placement: placementRow(shown) }, isShown: true, did };
      });
    }),
  };
}

/** Proves that the host of a new address belongs to the paper. Null when there is no proof or none is needed. */
async function proofFor({ app }: Writer, prove: ProveHost, c: PaperContext, given: unknown): Promise<Proof> {
  const { slug } = c.get('site');
  const { data } = PaperBody.shape.url.safeParse(given);
  if (data === undefined) return null;
  const url = normalUrl(data);
  const asked = new URL(url);
  const isThere = unchanged(app.store.desk.paper(slug)?.url, url) || app.store.desk.hosts.holds(slug, hostKey(asked));
  return isThere || hostProblem(asked, app.settings) !== null ? null : prove(slug, url);
}

type Proof = Awaited<ReturnType<ProveHost>>;

/** Throws `refused_by_door` for a new address that does not belong to the paper. Records the proof. */
function needAddress(app: AppContext, slug: string, url: string | undefined, before: string | undefined, proof: Proof) {
  if (url === undefined || unchanged(before, url)) return;
  const { desk } = app.store;
  const host = hostOfPaper({ url }) ?? '';
  const papers = desk.paperSlugs().flatMap((other) => (other === slug ? [] : (desk.paper(other) ?? [])));
  const problems = urlProblems(slug, url, {
    own: app.settings,
    ownsHost: proof !== null || desk.hosts.holds(slug, host),
    others: servedAt(papers, desk.hosts),
  });
  if (problems.length > 0) throw refusalOf(problems);
  if (proof !== null) desk.hosts.add(slug, host, proof, app.clock.now());
}

const unchanged = (before: string | undefined, url: string) => before !== undefined && normalUrl(before) === url;
