import { z } from '@hono/zod-openapi';
import { tagSlug } from '../../../src/desk/door/tag.ts';
import { DayRow, dayRow, SectionRow, sectionRows, TagRow, tagRow } from '../../../src/desk/section-rows.ts';
import { DeskStory, deskStory, FullStory, fullStory, StoryRow, storyRow } from '../../../src/desk/story.ts';
import { isDay } from '../../../src/proof/time.ts';
import type { AppContext } from '../../../src/server/context.ts';
import { Fault } from '../../../src/shared/fault.ts';
import { faults, ok } from '../../openapi/responses.ts';
import { cursorOf, cursorParam, limitParam, pageOf, readCursor } from '../../responses/paging.ts';
import { cached } from '../../responses/reply.ts';
import { archiveOf, linksFor, proofUrl, readablePiece } from '../context.ts';
import { airCursor, airPosition, dayParam, idParam, listOf, listSchema, operationsUnder } from '../route.ts';

const operation = operationsUnder('Reading');

const StoryList = listSchema('StoryList', 'stories', StoryRow);

const list = {
  operationId: 'listStories',
  summary: 'The pieces on air, newest first',
  request: {
    query: z.object({
      tag: z
        .string()
        .trim()
        .min(1, 'must name a tag, as in ?tag=tides')
        .max(200)
        .optional()
        .openapi({ description: 'Only the pieces with this tag: its name or its slug.', example: 'tides' }),
      limit: limitParam(50, 200),
      cursor: cursorParam,
    }),
  },
  responses: { 200: ok(StoryList, 'Newest first. `Link: rel="next"` goes on.') },
};

const one = {
  operationId: 'readStory',
  summary: 'One piece: prose and cited facts',
  description: 'A desk’s own key also reads drafts and scheduled pieces here, with their `state`.',
  request: { params: idParam },
  responses: { 200: ok(z.union([FullStory, DeskStory]), 'The piece.'), ...faults(410) },
};

/** The list of pieces on air, and each piece. */
export function storyHandlers(app: AppContext) {
  return {
    list: operation(list, (c) => {
      const { tag: named, limit, cursor } = c.req.valid('query');
      const tag = named === undefined ? undefined : tagSlug(named);
      const after = airPosition(cursor);
      const make = () => {
        const archive = archiveOf(app, c);
        const found =
          tag === undefined
            ? archive.latest({ limit: limit + 1, after })
            : archive.list('tag', tag).newest(limit + 1, after);
        const { rows, next } = pageOf(found, limit, airCursor);
        const links = linksFor(app, c);
        const shown = rows.map((row) => storyRow(row, links));
        return listOf(c, 'stories', shown, next);
      };
      return cached('stories', make, { page: { tag, limit, cursor } });
    }),
    one: operation(one, (c) => {
      const { id } = c.req.valid('param');
      const story = () => readablePiece(archiveOf(app, c), id, c);
      const links = linksFor(app, c);
      if (c.get('key') !== null) {
        const own = story();
        return deskStory(own, links, proofUrl(c, own));
      }
      return cached(`story ${id}`, () => {
        const found = story();
        return fullStory(found, links, proofUrl(c, found));
      });
    }),
  };
}

const TagCursor = z.tuple([z.int().min(1), z.string().max(1_000)]);
const DayCursor = z.tuple([z.string().refine(isDay)]);

/** The most days in one response: a leap year. */
const DAYS_MAX = 366;

const sections = {
  operationId: 'listSections',
  summary: 'The sections in the paper’s order',
  responses: { 200: ok(listSchema('SectionList', 'sections', SectionRow), 'The sections.') },
};

const tags = {
  operationId: 'listTags',
  summary: 'The tags of pieces on air, most frequent first',
  request: { query: z.object({ limit: limitParam(100, 500), cursor: cursorParam }) },
  responses: {
    200: ok(listSchema('TagList', 'tags', TagRow), '`GET /api/v1/stories?tag=` lists the pieces with a tag.'),
  },
};

const days = {
  operationId: 'listDays',
  summary: 'The days on which the paper published, newest first',
  request: { query: z.object({ cursor: cursorParam }) },
  responses: { 200: ok(listSchema('DayList', 'days', DayRow), `Up to ${DAYS_MAX} days.`) },
};

const day = {
  operationId: 'readDay',
  summary: 'The pieces that went on air on a UTC day',
  request: { params: dayParam('A day in UTC, up to today.') },
  responses: { 200: ok(StoryList, 'Newest first; empty for a day without pieces.') },
};

/** The archive by section and by day. */
export function archiveHandlers(app: AppContext) {
  return {
    sections: operation(sections, (c) =>
      cached('sections', () => listOf(c, 'sections', sectionRows(archiveOf(app, c), c.get('site').root))),
    ),
    tags: operation(tags, (c) => {
      const { limit, cursor } = c.req.valid('query');
      const [count, slug] = readCursor(TagCursor, cursor);
      const after = count === undefined || slug === undefined ? undefined : { count, slug };
      const make = () => {
        const found = archiveOf(app, c).tags({ limit: limit + 1, after });
        const { rows, next } = pageOf(found, limit, (last) => cursorOf([last.count, last.slug]));
        const shown = rows.map((row) => tagRow(row, c.get('site').root));
        return listOf(c, 'tags', shown, next);
      };
      return cached('tags', make, { page: { limit, cursor } });
    }),
    days: operation(days, (c) => {
      const { cursor } = c.req.valid('query');
      const [until] = readCursor(DayCursor, cursor);
      const make = () => {
        const found = archiveOf(app, c).days({ ...(until === undefined ? {} : { until }), limit: DAYS_MAX + 1 });
        // The cursor is the first day that was not shown.
        const { rows, next } = pageOf(found, DAYS_MAX, () => cursorOf([found[DAYS_MAX]?.day ?? '']));
        const shown = rows.map((row) => dayRow(row, c.get('site').root));
        return listOf(c, 'days', shown, next);
      };
      return cached('days', make, { page: { cursor } });
    }),
    day: operation(day, (c) => {
      const { day: asked } = c.req.valid('param');
      if (Date.parse(asked) > app.clock.now()) {
        throw new Fault('not_found', `${asked} is in the future; days are UTC days, up to today`);
      }
      return cached(`day ${asked}`, () => {
        const [stories, links] = [archiveOf(app, c).day(asked), linksFor(app, c)];
        const shown = stories.map((row) => storyRow(row, links));
        return listOf(c, 'stories', shown);
      });
    }),
  };
}
