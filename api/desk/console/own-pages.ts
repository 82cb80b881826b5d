import {
  changeOf,
  membersOf,
  pageFields,
  pageTexts,
  type Texts,
  withValues,
} from '../../../src/desk/console/record-forms.ts';
import { type Page, PageBody } from '../../../src/desk/papers/page.ts';
import { pageFrom } from '../../../src/desk/papers/record.ts';
import type { Build } from '../../../src/desk/press/build.ts';
import { Fault } from '../../../src/shared/fault.ts';
import type { Form } from '../../middleware/form-body.ts';
import { notFound, requireKeyOfLevel } from '../../middleware/key.ts';
import { archiveOf } from '../context.ts';
import { merged } from '../writing/change.ts';
import { type Action, refusalOf, showAgain, undo } from './action.ts';
import type { ConsoleParts, Shown } from './page.ts';
import { seenEdition, seenPage } from './see.ts';
import { type ConsoleContext, readOwnForm } from './session.ts';
import { fileOf, membersIn } from './settings.ts';

/** The members that a page may lack. */
const OPTIONAL = ['language'];

/** The paper's own pages, by the menus in which they stand. */
export function pagesPage({ app }: ConsoleParts, c: ConsoleContext): Shown {
  const { paper, root } = c.get('site');
  const pages = archiveOf(app, c)
    .pages()
    .map(({ slug, title, nav, order, language = paper.language }) => ({
      ...{ slug, title, nav, order, language },
      url: `${root}/${slug}/`,
    }));
  const fields = withValues(pageFields(paper.language), pageTexts(null));
  return ['/console/pages', 'Pages', { pages, fields, draft: draftOf(c, 'pages') }];
}

/** One page, with its text. */
export function ownPage({ app }: ConsoleParts, c: ConsoleContext): Shown {
  const page = pageOf({ app }, c);
  if (page === null) throw notFound();
  const { paper, root } = c.get('site');
  const view = {
    ...{ slug: page.slug, url: `${root}/${page.slug}/` },
    fields: withValues(pageFields(paper.language), pageTexts(page)),
    draft: draftOf(c, `pages/${page.slug}`),
    file: fileOf(app, c, `pages/${page.slug}.md`),
  };
  return ['/console/own-page', page.title, view];
}

/** The path of the draft, if the form that shows it led here. */
const draftOf = (c: ConsoleContext, at: string): string =>
  `see/page?${new URLSearchParams({ at, said: c.req.query('said') ?? '' })}`;

const slugIn = (c: ConsoleContext): string => c.req.param('slug') ?? '';
const pageOf = ({ app }: Pick<ConsoleParts, 'app'>, c: ConsoleContext): Page | null =>
  archiveOf(app, c).page(slugIn(c));

const put = (slug: string, texts: Texts) =>
  ({ method: 'PUT', path: `pages/${encodeURIComponent(slug)}`, body: bodyOf(texts) }) as const;

function bodyOf(texts: Texts): Record<string, unknown> {
  const { order, ...rest } = membersOf(texts, OPTIONAL);
  if (order === undefined) return rest;
  return { ...rest, order: /^\d{1,9}$/.test(order ?? '') ? Number(order) : order };
}

const textsIn = (given: Texts): Texts =>
  Object.fromEntries(pageFields('').flatMap(({ name }) => (given[name] === undefined ? [] : [[name, given[name]]])));
const changeIn = (form: Form, page: Page | null) => changeOf(pageFields(''), pageTexts(page), form.given());

/** Checks a page as it was typed and shows it, under the form; nothing is saved. */
export function showPage(parts: ConsoleParts) {
  return async (c: ConsoleContext): Promise<Response> => {
    requireKeyOfLevel(c.get('key'), 'admin');
    const given = (await readOwnForm(c)).given();
    const slug = slugIn(c) || (given.slug ?? '');
    const [at, action] = slugIn(c) === '' ? ['pages', 'pages/add'] : [`pages/${slug}`, `pages/${slug}/save`];
    try {
      draft(parts, c, slug, given);
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      return showAgain(parts, c, at, 200, {
        ...refusalOf({ message: error.message, ...error.details }),
        action,
        given,
      });
    }
    return showAgain(parts, c, at, 200, { kind: 'done', text: 'Nothing is saved yet.', isDraft: true, action, given });
  };
}

/** The page made from the form's texts. Throws what the API would throw. */
function draft({ app }: Pick<ConsoleParts, 'app'>, c: ConsoleContext, slug: string, given: Texts): Page {
  const archive = archiveOf(app, c);
  const { slug: _slug, ...before } = archive.page(slug) ?? { slug };
  return { ...pageFrom(archive, slug, merged(PageBody, before, bodyOf(textsIn(given)))), slug };
}

/** The page as it was typed, for the frame. */
export function draftFrame(parts: ConsoleParts, build: Build) {
  return (c: ConsoleContext): Promise<Response> => {
    requireKeyOfLevel(c.get('key'), 'admin');
    const notice = parts.notices.take(c.get('session').id, c.req.query('said'));
    if (notice?.given === undefined) throw notFound();
    const [, named] = /^pages\/([^/]+)\/save$/.exec(notice.action ?? '') ?? [];
    const page = draft(parts, c, named ?? notice.given.slug ?? '', notice.given);
    const archive = archiveOf(parts.app, c);
    const edition = seenEdition({ ...archive, page: (slug) => (slug === page.slug ? page : archive.page(slug)) }, c);
    return seenPage(parts.app, build, c, { edition, path: `${page.slug}/index.html` });
  };
}

/** What can be done to the paper's own pages. */
export function pageActions(parts: ConsoleParts): Record<string, Action> {
  const before = (c: ConsoleContext) => pageOf(parts, c);
  const restore = (page: Page, label: string) =>
    undo(`pages/${page.slug}/restore`, label, { members: JSON.stringify(pageTexts(page)) });
  return {
    add: {
      level: 'admin',
      request: (form) => put(form.text('slug'), textsIn(form.given())),
      said: ({ slug }) => ({ text: `The page is at /${slug}/.`, ...undo(`pages/${slug}/remove`, 'Remove it again') }),
      next: ({ slug }) => `pages/${slug}`,
    },
    ':slug/save': {
      level: 'admin',
      before,
      request: (form, c) => put(slugIn(c), changeIn(form, before(c)).texts),
      said: (_body, form, page: Page | null) => ({
        text: 'Saved.',
        changed: changeIn(form, page).changed,
        ...(page && restore(page, 'Set it back')),
      }),
    } satisfies Action<Page | null>,
    ':slug/restore': {
      level: 'admin',
      before,
      request: (form, c) => put(slugIn(c), membersIn(form.text('members')) as Texts),
      said: (_body, _form, page: Page | null) => ({ text: 'Set back.', ...(page && restore(page, 'Set it again')) }),
      next: ({ slug }) => `pages/${slug}`,
    } satisfies Action<Page | null>,
    ':slug/remove': {
      level: 'admin',
      before,
      request: (_form, c) => ({ method: 'DELETE', path: `pages/${encodeURIComponent(slugIn(c))}` }),
      said: ({ slug }, _form, page: Page | null) => ({
        text: `/${slug}/ is removed; its address answers 404.`,
        ...(page && restore(page, 'Put it back')),
      }),
      next: () => 'pages',
    } satisfies Action<Page | null>,
  };
}
