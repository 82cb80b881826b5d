import { mediaLine } from '../../../src/desk/console/media-lines.ts';
import { mediaUses } from '../../../src/desk/papers/media-use.ts';
import { QUERY_MAX } from '../../../src/desk/search.ts';
import { requireFormToken } from '../../../src/shared/session.ts';
import { requireKeyOfLevel } from '../../middleware/key.ts';
import { archiveOf } from '../context.ts';
import { type Action, redirect, refusalOf, showAgain } from './action.ts';
import { askApi, type ConsoleParts, pathBelow, type Shown } from './page.ts';
import { slugOf } from './pieces.ts';
import type { ConsoleContext } from './session.ts';

/** How many files a page of the list has. */
const PAGE = 48;
/**
 * With more pieces than this, uses are looked up only for a single file, because that reads the prose of all pieces.
 */
const PIECES_MAX = 2_000;

/** The paper's media, by path, and where each is used. */
export function mediaPage({ app }: ConsoleParts, c: ConsoleContext): Shown {
  const { desk } = app.store;
  const [paper, { root }] = [slugOf(c), c.get('site')];
  const q = (c.req.query('q') ?? '').slice(0, QUERY_MAX).trim();
  const after = (c.req.query('after') ?? '').slice(0, 1_000);
  const found = desk.allMedia(paper).filter(({ path }) => path.toLowerCase().includes(q.toLowerCase()));
  const rest = found.filter(({ path }) => path > after);
  const shown = rest.slice(0, PAGE);
  const pieces = Object.values(desk.pieces.stateCounts(paper)).reduce((sum, count) => sum + count, 0);
  const isLooked = pieces <= PIECES_MAX || shown.length === 1;
  const paths = shown.map(({ path }) => path);
  const uses = isLooked ? mediaUses(archiveOf(app, c), desk.pieces.withMedia(paper), paths) : null;
  const view = {
    rows: shown.map((media) => mediaLine(media, root, uses?.get(media.path) ?? null)),
    total: found.length,
    q,
    more: rest.length > PAGE ? `media?${new URLSearchParams({ q, after: paths.at(-1) ?? '' })}` : null,
  };
  return ['/console/media', 'Media', view];
}

/**
 * Passes a file from a form of the console to the API's route, as it comes from the network, and redirects to a page:
 * `at` is its path, to which `uploaded` is added with the path of the file.
 */
export function uploadMedia(parts: ConsoleParts, at: (c: ConsoleContext) => string) {
  return async (c: ConsoleContext): Promise<Response> => {
    requireKeyOfLevel(c.get('key'), 'admin');
    let given: Record<string, string> = {};
    const readFields = (fields: ReadonlyMap<string, string>) => {
      requireFormToken(c.get('token'), fields.get('form'));
      given = Object.fromEntries([...fields].filter(([name]) => name !== 'form'));
    };
    const { status, body } = await askApi(parts, c, { method: 'POST', path: 'media', streamed: readFields });
    if (status >= 400) {
      return showAgain(parts, c, at(c), status, { ...refusalOf(body), action: pathBelow(c), given });
    }
    const { path } = body;
    const text = status === 200 ? `${path} has these bytes already.` : `${path} is uploaded, and anybody may open it.`;
    return redirect(parts, c, `${at(c)}?${new URLSearchParams({ q: path, uploaded: path })}`, { kind: 'done', text });
  };
}

/** What can be done to media. */
export const mediaActions: Record<string, Action> = {
  remove: {
    level: 'admin',
    request: (form) => ({ method: 'DELETE', path: `media/${encodeURIComponent(form.text('path'))}` }),
    said: (_body, form) => ({
      text: `${form.text('path')} is removed. Its address answers 404; to undo this, upload the file again at the same path.`,
    }),
  },
};
