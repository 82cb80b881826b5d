import { z } from '@hono/zod-openapi';
import { airingChange, type Change, frontChanges, pieceSubject, withdrawalChange } from '../../../src/desk/activity.ts';
import { airStory, withdrawStory } from '../../../src/desk/airing.ts';
import { type Archive, isWithdrawn, type Story } from '../../../src/desk/archive.ts';
import { FilingBody, filingFrom } from '../../../src/desk/door/filing.ts';
import type { Filing } from '../../../src/desk/door/piece.ts';
import { ofGiven, repair } from '../../../src/desk/door/repair.ts';
import { FactHint, factHints } from '../../../src/desk/fact-hints.ts';
import { doorProblems, fileStory, paperRules } from '../../../src/desk/file-story.ts';
import type { AccessKey } from '../../../src/desk/papers/keys.ts';
import { freeSlug } from '../../../src/desk/papers/slug.ts';
import { PlacementBody } from '../../../src/desk/placement.ts';
import { placeStory } from '../../../src/desk/placing.ts';
import { DeskStory, deskStory } from '../../../src/desk/story.ts';
import { refuseWithdrawn } from '../../../src/desk/withdrawal.ts';
import { type AppContext, deskOf } from '../../../src/server/context.ts';
import { Fault, refusalOf } from '../../../src/shared/fault.ts';
import { type Problem, shapeProblems } from '../../../src/shared/shape.ts';
import type { PaperContext } from '../../env.ts';
import type { Outcome } from '../../middleware/idempotency.ts';
import { invalid, rejectInvalid, type Validated } from '../../middleware/invalid.ts';
import { jsonBody } from '../../middleware/json-body.ts';
import { requireKeyOfLevel } from '../../middleware/key.ts';
import { body, created, faults, ok } from '../../openapi/responses.ts';
import { archiveOf, linksFor, proofUrl, requirePiece } from '../context.ts';
import { ProofBody, proofFor } from '../reading/proof.ts';
import { idParam, operationsUnder, writes } from '../route.ts';
import { notesRefusals } from './refusals.ts';
import { Pressing, requiresTerms, type Writer, write } from './write.ts';

const operation = operationsUnder('Writing');

const time = z.iso.datetime({ offset: true, error: 'must be a future time, such as 2026-11-20T06:30:00Z' });

export const EXAMPLE = {
  headline: 'What the second is now',
  dek: 'One sentence that says what the piece finds.',
  category: 'Time',
  byline: 'osric-tamblyn',
  prose: 'The second has been defined by caesium since 1967.[^1] A new definition is being prepared.[^2]',
  cited_facts: [
    { statement: 'The second was redefined in 1967.', source: 'BIPM', instrument: 'https://www.bipm.org/en/cgpm-1967' },
    { statement: 'Optical clocks may follow.', source: 'NIST', instrument: 'https://www.nist.gov/' },
  ],
  air: false,
};

const air = z.union([z.boolean(), time]);

/** A filing's body without the time of its revision: no key may backdate a correction. */
const Sent = FilingBody.omit({ revised_at: true });

const placement = PlacementBody.nullish().openapi({
  description:
    'Its place on the front, which needs an admin key. Omitted, the front stays as it is; null frees the place.',
});

export const NewStory = Sent.safeExtend({
  placement,
  air: air
    .default(false)
    .openapi({ description: 'false keeps it a draft, true puts it on air now, a future time puts it on air then.' }),
}).openapi('NewStory', { example: EXAMPLE });

export const Revision = Sent.safeExtend({
  placement,
  air: air.optional().openapi({
    description:
      'As in a new piece, for one that is not on air; false or omitted leaves the piece as it is, on or off air.',
  }),
  revision: z.int().min(1).openapi({ description: 'The revision that this one was made from.' }),
}).openapi('Revision', { example: { ...EXAMPLE, air: undefined, revision: 1, correction: 'The year was wrong.' } });

export const Airing = z
  .strictObject({ at: time.optional().openapi({ description: 'A future time; now when omitted.' }) })
  .openapi('Airing');

export const Withdrawal = z
  .strictObject({
    reason: z.string().openapi({ description: 'One line; readers will see it.' }),
    withhold_headline: z.boolean().optional().openapi({
      description:
        'For reasons of law or privacy: the headline no longer appears anywhere, and notices say that a piece was withdrawn. Also possible for a piece that is already withdrawn.',
    }),
  })
  .openapi('Withdrawal', { example: { reason: 'The document it rests on was a draft.' } });

/** The hints of the door, left out without any. */
export const Hints = z.array(FactHint.clone().openapi('FactHint')).optional().openapi({
  description: 'Facts of the record that entries without a key nearly repeat. They never block a filing.',
});

export const Filed = z.object({ story: DeskStory, proof: ProofBody, hints: Hints, ...Pressing }).openapi('Filed');
export const Aired = z.object({ story: DeskStory, ...Pressing }).openapi('Aired');

const file = writes({
  operationId: 'fileStory',
  summary: 'File a piece',
  description: 'Without `slug`, one is made from the headline.',
  before: [jsonBody({ judgesZeros: true })],
  request: { body: body(NewStory) },
  responses: { 201: created(Filed, 'Filed and signed.'), ...faults(409, 410) },
});

const revise = writes({
  operationId: 'reviseStory',
  summary: 'File a new revision of a piece',
  description: 'A piece on air shows it at once. With `correction` the piece says what was wrong.',
  before: [jsonBody({ judgesZeros: true })],
  request: { params: idParam, body: body(Revision) },
  responses: { 200: ok(Filed, 'Filed and signed.'), ...faults(409, 410) },
});

const airing = writes({
  operationId: 'airStory',
  summary: 'Put a piece on air, now or at a future time',
  before: [jsonBody({ mayBeEmpty: true })],
  request: { params: idParam, body: body(Airing, false) },
  responses: { 200: ok(Aired, 'On air, or scheduled.'), ...faults(409) },
});

const withdraw = writes({
  operationId: 'withdrawStory',
  summary: 'Take a piece off the air, or off its schedule',
  description: 'The piece leaves lists and feeds; its page becomes a notice and its address answers 410.',
  request: { params: idParam, body: body(Withdrawal) },
  responses: { 200: ok(Aired, 'Off the air.'), ...faults(409) },
});

/** Filing, revising, airing and withdrawing pieces. */
export function filingHandlers(writer: Writer) {
  const { app } = writer;
  const by = (key: AccessKey) => `key:${key.id}`;
  const isAgent = (key: AccessKey) => key.level === 'agent';
  return {
    file: operation(
      { ...file, hook: rejectStory(app, NewStory) },
      async (c) => {
        const { air: when, placement, ...given } = c.req.valid('json');
        const { slug: paper } = c.get('site');
        const work = (key: AccessKey) => {
          const archive = archiveOf(app, c);
          const toAir = airingAs(when, app.clock.now());
          const slug = given.slug ?? freeSlug(given.headline, archive.hasSlug);
          const filing = filingOf(archive, c, given, slug);
          needPersona(key, filing);
          const options = { by: by(key), from: 0, toAir: toAir !== null, isAgent: isAgent(key) };
          const { story } = fileStory(deskOf(app), paper, filing, options);
          const aired = toAir === null ? null : airStory(deskOf(app), paper, slug, { by: by(key), ...toAir });
          const placed = place(app, c, key, story, placement);
          const filed: Change = { action: 'piece.filed', subject: pieceSubject(story) };
          return { ...answerOf(app, c, story.id, 201), did: [filed, ...airingOf(aired), ...placed] };
        };
        return write(writer, c, work, {
          addressOf: ({ story }) => `stories/${story.id}`,
          repeated: repeatedOf(app, c),
        });
      },
      notesRefusals(writer, 'piece.filed'),
      requiresTerms(app),
    ),
    revise: operation(
      { ...revise, hook: rejectStory(app, Revision) },
      async (c) => {
        const { revision, air: when = false, placement, ...given } = c.req.valid('json');
        const { id } = c.req.valid('param');
        const { slug: paper } = c.get('site');
        return write(
          writer,
          c,
          (key) => {
            const before = requirePiece(archiveOf(app, c), id);
            needLevelFor(before, key);
            if (given.slug !== undefined && given.slug !== before.slug) {
              const message = `${JSON.stringify(given.slug)} is not the piece’s slug; a piece keeps its slug ${JSON.stringify(before.slug)}, so that links to it keep working`;
              throw refusalOf([{ field: 'slug', rule: 'slug_kept', message }]);
            }
            const filing = filingOf(archiveOf(app, c), c, given, before.slug);
            needPersona(key, filing);
            const toAir = before.state === 'on_air' ? null : airingAs(when, app.clock.now());
            const options = { by: by(key), from: revision, toAir: toAir !== null, isAgent: isAgent(key) };
            const { story, changed } = fileStory(deskOf(app), paper, filing, options);
            const aired = toAir === null ? null : airStory(deskOf(app), paper, before.slug, { by: by(key), ...toAir });
            const placed = place(app, c, key, before, placement);
            const revised = changed ? [revisionChange(story, filing.correction)] : [];
            return { ...answerOf(app, c, before.id, 200), did: [...revised, ...airingOf(aired), ...placed] };
          },
          { repeated: repeatedOf(app, c) },
        );
      },
      notesRefusals(writer, 'piece.revised'),
      requiresTerms(app),
    ),
    airing: operation(
      airing,
      async (c) => {
        const { at: when } = c.req.valid('json') ?? {};
        const { id } = c.req.valid('param');
        return write(
          writer,
          c,
          (key) => {
            const archive = archiveOf(app, c);
            const before = requirePiece(archive, id);
            needLevelFor(before, key);
            const at = when === undefined ? undefined : futureTime('at', when, app.clock.now());
            const aired = airStory(deskOf(app), c.get('site').slug, before.slug, {
              by: by(key),
              ...(at === undefined ? {} : { at }),
            });
            return { ...standingOf(app, c, requirePiece(archive, before.id)), did: airingOf(aired) };
          },
          { repeated: repeatedOf(app, c) },
        );
      },
      notesRefusals(writer, 'piece.aired'),
      requiresTerms(app),
    ),
    withdraw: operation(withdraw, (c) => {
      const { reason, withhold_headline: withholdHeadline = false } = c.req.valid('json');
      const { id } = c.req.valid('param');
      return write(
        writer,
        c,
        (key) => {
          const { slug } = requirePiece(archiveOf(app, c), id);
          const story = withdrawStory(deskOf(app), c.get('site').slug, slug, { by: by(key), reason, withholdHeadline });
          return { ...standingOf(app, c, story), did: [withdrawalChange(story, reason)] };
        },
        { repeated: repeatedOf(app, c) },
      );
    }),
  };
}

/** A picture without a description inherits that of its file. */
function filingOf(archive: Archive, c: PaperContext, given: FilingBody, slug: string): Filing {
  const { default_kind, language } = c.get('site').paper;
  const filing = filingFrom(given, { slug, kind: default_kind, language });
  const { image } = filing;
  const alt = image?.alt === '' ? archive.media(image.src)?.alt : undefined;
  return image === null || alt === undefined ? filing : { ...filing, image: { ...image, alt } };
}

function answerOf(app: AppContext, c: PaperContext, id: string, status: 200 | 201) {
  const story = requirePiece(archiveOf(app, c), id);
  const { body, ...rest } = standingOf(app, c, story);
  return { ...rest, status, body: { ...body, proof: proofFor(app, c, story), ...hintsOf(archiveOf(app, c), story) } };
}

/** The member `hints` of a response. */
export function hintsOf(archive: Archive, { cited_facts }: Pick<Filing, 'cited_facts'>): { hints?: FactHint[] } {
  const hints = factHints(archive, cited_facts);
  return hints.length === 0 ? {} : { hints };
}

function standingOf(app: AppContext, c: PaperContext, story: Story): Outcome<{ story: DeskStory }> {
  const isShown = story.state === 'on_air' || isWithdrawn(story);
  return { status: 200, body: { story: deskStory(story, linksFor(app, c), proofUrl(c, story)) }, isShown };
}

/**
 * The response to a repeated write for a piece whose headline was withheld since: its present state, without a proof,
 * which would contain the headline. Throws `withdrawn` for a response with a proof.
 */
function repeatedOf(app: AppContext, c: PaperContext) {
  return <Body extends { story: DeskStory; proof?: unknown }>(body: Body): Body => {
    const story = archiveOf(app, c).storyById(body.story.id);
    if (!story?.headline_withheld) return body;
    if (body.proof !== undefined) refuseWithdrawn(story, 'proof');
    return { ...body, ...standingOf(app, c, story).body };
  };
}

/** What the `air` member of a body asks for: null for no airing, now, or `at` a future time (ms). */
export function airingAs(air: boolean | string, now: number): { at?: number } | null {
  if (typeof air === 'string') return { at: futureTime('air', air, now) };
  return air ? {} : null;
}

/** Parses a future time into ms. Throws `invalid_request` for other times: callers may not backdate an airing. */
function futureTime(field: string, text: string, now: number): number {
  const at = Date.parse(text);
  if (at > now) return at;
  throw new Fault('invalid_request', `${field} ${text} has passed; give a future time, or leave it out for now`, {
    field,
  });
}

/** Places a piece on the front, or frees its place. Only an admin edits the front: throws `level_too_low`. Returns the change. */
function place(
  app: AppContext,
  c: PaperContext,
  key: AccessKey,
  story: Story,
  placement: PlacementBody | null | undefined,
): Change[] {
  if (placement === undefined) return [];
  requireKeyOfLevel(key, 'admin');
  const before = archiveOf(app, c).placement();
  return frontChanges(before, placeStory(deskOf(app), c.get('site').slug, story, placement, `key:${key.id}`));
}

function airingOf(aired: ReturnType<typeof airStory> | null): Change[] {
  return aired?.changed ? [airingChange(aired.story)] : [];
}

function revisionChange(story: Story, correction: string | null): Change {
  const detail = { revision: story.revision, ...(correction === null ? {} : { correction: true }) };
  return { action: 'piece.revised', subject: pieceSubject(story), detail };
}

/** Throws `level_too_low` when an agent tries to air a piece that an admin withdrew. */
function needLevelFor(story: Story, key: AccessKey): void {
  if (isWithdrawn(story)) requireKeyOfLevel(key, 'admin');
}

/** Throws `refused_by_door` when an agent's key is bound to one persona and the filing is signed by another. */
export function needPersona({ persona }: AccessKey, filing: Filing): void {
  if (persona === null || persona === filing.persona) return;
  const message = `${JSON.stringify(filing.persona)} is not the persona of this key; it signs as ${JSON.stringify(persona)}`;
  throw refusalOf([{ field: 'byline', rule: 'persona_of_key', message }]);
}

/** A schema of a piece's body. */
type StorySchema = z.ZodType<FilingBody & { air?: boolean | string | undefined }>;

/** Rejects a piece's body of the wrong shape with every problem: those of its shape, and those that the door finds. */
export function rejectStory(app: AppContext, schema: StorySchema) {
  return (result: Validated, c: PaperContext): undefined => {
    if (result.success || result.target !== 'json') return rejectInvalid(result);
    throw invalid(bodyProblems(app, c, { schema, ...result }));
  };
}

/** The problems of a body that does not match its schema. */
export function bodyProblems(
  app: AppContext,
  c: PaperContext,
  { schema, data, error }: { schema: StorySchema; data?: unknown; error: z.ZodError },
): Problem[] {
  const problems = shapeProblems(error, data);
  const repaired = repair(schema, data, error);
  if (repaired === null) return problems;
  const { default_kind: kind, language } = c.get('site').paper;
  const { air = false, slug = 'x', ...fields } = repaired.data;
  const filing = filingFrom(fields, { slug, kind, language });
  const rules = paperRules(archiveOf(app, c));
  const found = doorProblems(filing, rules, { now: app.clock.now(), toAir: air !== false });
  return [...problems, ...ofGiven(found, repaired.fields)];
}
