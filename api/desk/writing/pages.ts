import { z } from '@hono/zod-openapi';
import { type Page, PageBody, PageRow, pageRow } from '../../../src/desk/papers/page.ts';
import { pageFrom, without } from '../../../src/desk/papers/record.ts';
import { Fault } from '../../../src/shared/fault.ts';
import type { PaperContext } from '../../env.ts';
import { body, ok } from '../../openapi/responses.ts';
import { archiveOf } from '../context.ts';
import { listOf, listSchema, operationsUnder, writes } from '../route.ts';
import { changeSchema, merged } from './change.ts';
import { Pressing, putRecord, type Writer, write } from './write.ts';

const operation = operationsUnder('Desk');

const slugParam = z.object({
  slug: z.string().max(200).openapi({ description: 'The page’s slug.', example: 'about' }),
});

const PageRecord = PageRow.safeExtend({ prose: z.string() }).openapi('PageRecord', {
  description: 'A page of the paper’s own, with its text in Markdown.',
});

/** A page can be sent back as it was read. */
const PageMembers = PageBody.safeExtend({ slug: z.string(), url: z.url() });

const list = {
  operationId: 'listPages',
  summary: 'The paper’s own pages, in reading order',
  responses: { 200: ok(listSchema('PageList', 'pages', PageRow), 'Every page.') },
};

const read = {
  operationId: 'readPage',
  summary: 'A page of the paper’s own',
  request: { params: slugParam },
  responses: { 200: ok(PageRecord, 'The page.') },
};

const put = writes({
  operationId: 'writePage',
  summary: 'Add a page of the paper’s own, or change one',
  description:
    'About, imprint, contact and the like, at `{root}/{slug}/`. Prose is Markdown without HTML, as in a piece, and cites no facts. A slug that the paper’s own addresses use is refused.',
  request: {
    params: slugParam,
    body: body(
      changeSchema(PageMembers, 'PageChange', {
        title: 'About this paper',
        nav: 'footer',
        order: 1,
        prose: 'Two people and four personas watch the tides.',
      }),
    ),
  },
  responses: {
    200: ok(
      PageRecord.safeExtend(Pressing).openapi('WrittenPage', {
        description: 'A page of the paper’s own, with its text in Markdown.',
      }),
      'The page.',
    ),
  },
});

const remove = writes({
  operationId: 'removePage',
  summary: 'Remove a page of the paper’s own',
  request: { params: slugParam },
  responses: {
    200: ok(
      z
        .object({ slug: z.string(), removed: z.literal(true), ...Pressing })
        .openapi('RemovedPage', { example: { slug: 'about', removed: true, pressed: true, files: 9 } }),
      'Its address answers 404.',
    ),
  },
});

/** The paper's own pages. */
export function pageHandlers(writer: Writer) {
  const { app } = writer;
  return {
    list: operation(list, (c) => {
      const pages = archiveOf(app, c).pages();
      const shown = pages.map((page) => pageRow(page, siteOf(c)));
      return listOf(c, 'pages', shown);
    }),
    read: operation(read, (c) => recordOf(c, requirePage(writer, c, c.req.valid('param').slug))),
    put: operation(put, (c) => {
      const { slug } = c.req.valid('param');
      const given = c.req.valid('json');
      return write(writer, c, () => {
        const archive = archiveOf(app, c);
        const { slug: _slug, ...before } = archive.page(slug) ?? { slug };
        const change = without(given, { slug, url: `${c.get('site').root}/${slug}/` });
        const page = pageFrom(archive, slug, merged(PageBody, before, change));
        return putRecord(app, c, { kind: 'page', name: slug, body: page }, recordOf(c, { ...page, slug }));
      });
    }),
    remove: operation(remove, (c) => {
      const { slug } = c.req.valid('param');
      return write(writer, c, () => {
        requirePage(writer, c, slug);
        return putRecord(app, c, { kind: 'page', name: slug, body: null }, { slug, removed: true as const });
      });
    }),
  };
}

function requirePage({ app }: Writer, c: PaperContext, slug: string): Page {
  const page = archiveOf(app, c).page(slug);
  if (page !== null) return page;
  throw new Fault('not_found', `this paper has no page ${JSON.stringify(slug)}; GET /api/v1/pages lists them`);
}

const siteOf = (c: PaperContext) => ({ root: c.get('site').root, language: c.get('site').paper.language });

const recordOf = (c: PaperContext, page: Page) => ({ ...pageRow(page, siteOf(c)), prose: page.prose });
