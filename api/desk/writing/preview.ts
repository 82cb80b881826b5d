import { randomBytes } from 'node:crypto';
import { z } from '@hono/zod-openapi';
import type { Archive, Story } from '../../../src/desk/archive.ts';
import { withRecord } from '../../../src/desk/door/claims.ts';
import { filingProblems, SLUG, sourceFloorProblems } from '../../../src/desk/door/door.ts';
import { filingFrom } from '../../../src/desk/door/filing.ts';
import type { Filing } from '../../../src/desk/door/piece.ts';
import { parseProse } from '../../../src/desk/door/prose.ts';
import { writerLine, writersOf } from '../../../src/desk/door/writers.ts';
import { paperRules } from '../../../src/desk/file-story.ts';
import type { AccessKey } from '../../../src/desk/papers/keys.ts';
import { makePreviewLink } from '../../../src/desk/papers/preview-link.ts';
import { showableFiling, showableProse } from '../../../src/desk/papers/showable.ts';
import { freeSlug } from '../../../src/desk/papers/slug.ts';
import { Edition } from '../../../src/desk/press/edition.ts';
import { memoized } from '../../../src/desk/press/memoized.ts';
import type { Render } from '../../../src/desk/press/output.ts';
import { previewView, prosePictures } from '../../../src/desk/press/outputs/story.ts';
import { pageProse } from '../../../src/desk/press/page-prose.ts';
import type { ProseHtml } from '../../../src/desk/press/prose-html.ts';
import { wordCount } from '../../../src/desk/story.ts';
import { isoTime } from '../../../src/proof/time.ts';
import type { AppContext } from '../../../src/server/context.ts';
import { caught, Fault, problemsIn } from '../../../src/shared/fault.ts';
import { newId } from '../../../src/shared/new-id.ts';
import type { Problem } from '../../../src/shared/shape.ts';
import type { PaperContext } from '../../env.ts';
import { jsonBody } from '../../middleware/json-body.ts';
import { requireKeyOfLevel } from '../../middleware/key.ts';
import { body, faults, ok } from '../../openapi/responses.ts';
import { archiveOf, requirePiece } from '../context.ts';
import { idParam, operationsUnder } from '../route.ts';
import { airingAs, bodyProblems, EXAMPLE, Hints, hintsOf, NewStory, needPersona } from './filing.ts';

const operation = operationsUnder('Writing');

const link = {
  operationId: 'linkPreview',
  summary: 'A link to the page of a piece that is not on air',
  description:
    'Anyone with the link sees the newest revision of the piece as its page would be, without a key, also in a private paper. It lasts for seven days, until the piece goes on air (from then on it leads to the piece’s page), or until the key that asked for it is revoked. Each request makes another link, and of a piece’s links the newest 100 count.',
  request: { params: idParam },
  responses: {
    200: ok(
      z.object({ url: z.url(), expires_at: z.iso.datetime() }).openapi('PreviewLink'),
      'The link, which is shown once.',
    ),
    ...faults(409, 410),
  },
};

const Sent = z.looseObject({}).openapi('StoryToPreview', {
  description: 'The body of a filing, like NewStory, or a part of it.',
  example: EXAMPLE,
});

export const Previewed = z
  .object({
    problems: z
      .array(
        z.object({
          field: z.string(),
          rule: z.string(),
          message: z.string(),
          offset: z.int().optional().openapi({ description: 'Where in the field, in UTF-16 units.' }),
        }),
      )
      .openapi({ description: 'Every rule that the piece breaks; empty when it may be filed as it is.' }),
    hints: Hints,
    html: z.string(),
  })
  .openapi('Previewed');

const preview = {
  operationId: 'previewStory',
  summary: 'What the door says of a piece, and its page, without filing it',
  description:
    'Takes the body of a filing, complete or not, and stores nothing. `html` is the page as far as it can be shown; its addresses are absolute.',
  before: [jsonBody({ judgesZeros: true })],
  request: { body: body(Sent) },
  responses: {
    200: ok(Previewed, 'The problems, and the page.'),
    ...faults(413, 415),
  },
};

/** Previews of pieces: a link to one that was filed, and the page of one that was not. */
export function previewHandlers(app: AppContext, render: Render) {
  return {
    link: operation(link, (c) => {
      const key = requireKeyOfLevel(c.get('key'), 'read');
      const story = requirePiece(archiveOf(app, c), c.req.valid('param').id);
      const { slug, served } = c.get('site');
      const from = { previews: app.store.desk.previews, now: app.clock.now() };
      const { secret, expires_at } = makePreviewLink(from, slug, story, { key, random: randomBytes });
      return { url: `${served}/preview/${secret}/`, expires_at: isoTime(expires_at) };
    }),
    preview: operation(preview, async (c) => {
      const key = requireKeyOfLevel(c.get('key'), 'agent');
      const data = c.req.valid('json');
      const { root, served } = c.get('site');
      const archive = archiveOf(app, c);
      const { problems, filing } = judged(app, c, key, data);
      const edition = new Edition(memoized(archive), { root, base: served });
      const prose = await previewedProse(edition, filing);
      const story = storyOf(archive, filing, app.clock.now());
      return {
        problems,
        ...hintsOf(archive, filing),
        html: await render('/paper/story', previewView(edition, story, prose)),
      };
    }),
  };
}

/** The prose of a piece as HTML. Pieces of older versions may hold more mark-up than is rendered here. */
export function previewedProse(
  edition: Edition,
  { prose, cited_facts: facts, language }: Pick<Filing, 'prose' | 'cited_facts' | 'language'>,
): Promise<ProseHtml> {
  const parsed = parseProse(prose);
  const pictures = prosePictures(
    edition,
    parsed.pictures.map(({ text }) => text),
  );
  const pictureOf = (path: string) => pictures.get(path) ?? path;
  return pageProse(showableProse(prose, parsed), facts, language, pictureOf, { hasBox: true });
}

/** All problems of an arbitrary body, and the piece that can be shown from it. */
function judged(
  app: AppContext,
  c: PaperContext,
  key: AccessKey,
  data: Record<string, unknown>,
): { problems: Problem[]; filing: Filing } {
  const { paper: record } = c.get('site');
  const archive = archiveOf(app, c);
  const rules = paperRules(archive);
  const parsed = NewStory.safeParse(data);
  const given = typeof data.slug === 'string' && SLUG.test(data.slug) ? data.slug.slice(0, 150) : null;
  const headline = typeof data.headline === 'string' ? data.headline.slice(0, 300) : '';
  const slug = given ?? freeSlug(headline, archive.hasSlug);
  const shown = showableFiling(data, { slug, paper: record, hasMedia: rules.hasMedia });
  const problems: Problem[] = [];
  let filing = shown;
  if (!parsed.success) problems.push(...bodyProblems(app, c, { schema: NewStory, data, error: parsed.error }));
  else {
    const { air, placement: _place, ...fields } = parsed.data;
    const defaults = { slug, kind: record.default_kind, language: record.language };
    filing = withRecord(filingFrom(fields, defaults), rules.fact);
    problems.push(...problemsOf(() => airingAs(air, app.clock.now())), ...problemsOf(() => needPersona(key, filing)));
    if (air !== false) problems.push(...sourceFloorProblems(filing, rules));
  }
  if (parsed.success) problems.unshift(...filingProblems(filing, rules));
  if (problems.length === 0) return { problems, filing };
  return { problems, filing: { ...shown, prose: showableProse(shown.prose, parseProse(shown.prose)) } };
}

/** The problems of a check that throws them. */
function problemsOf(check: () => unknown): Problem[] {
  const fault = caught(Fault, check);
  if (!(fault instanceof Fault)) return [];
  const field = typeof fault.details.field === 'string' ? fault.details.field : 'body';
  return problemsIn(fault) ?? [{ field, rule: fault.code, message: fault.message }];
}

/** A piece as it would be if it went on air now. */
function storyOf(archive: Archive, filing: Filing, now: number): Story {
  const before = archive.storyBySlug(filing.slug);
  const persona = archive.persona(filing.persona);
  const writers = writersOf(filing);
  return {
    ...filing,
    id: before?.id ?? newId(),
    byline: { name: persona?.name ?? (filing.persona || '?'), title: persona?.title ?? '' },
    revision: (before?.revision ?? 0) + 1,
    published_at: before?.published_at || now,
    updated_at: now,
    state: 'on_air',
    content_hash: '',
    writers,
    writer: writerLine(writers, filing.language),
    word_count: wordCount(filing.prose, filing.language),
    corrections: before?.corrections ?? [],
    citations: [],
    scheduled_at: null,
    withdrawn_at: null,
    reason: null,
    headline_withheld: false,
    evidence: [],
    awaits_review: false,
    awaits_evidence: false,
    reviewed_by: null,
    change_request: null,
  };
}
