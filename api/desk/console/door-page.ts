import type { BlockList } from 'node:net';
import type { MiddlewareHandler } from 'hono';
import { createMiddleware } from 'hono/factory';
import type { DoorFrame, DoorPages } from '../../../src/desk/console/door-views.ts';
import { canHavePasskeys } from '../../../src/desk/console/passkey.ts';
import { DEFAULT_TYPEFACES } from '../../../src/desk/papers/typefaces.ts';
import type { Build } from '../../../src/desk/press/build.ts';
import type { Pages } from '../../../src/render.ts';
import type { AppContext } from '../../../src/server/context.ts';
import { Fault } from '../../../src/shared/fault.ts';
import type { PaperContext, PaperEnv } from '../../env.ts';
import { problemOf } from '../../middleware/form-body.ts';
import { wantsRecord } from '../../responses/send.ts';
import { sendConsole } from './page.ts';

/** The dependencies of the pages that are open without signing in. */
export interface DoorParts {
  app: AppContext;
  render: Build['render'];
  proxies: BlockList;
}

/** A line of the console's URL map that is open to those who are not signed in: the path below `{root}/console/`. */
export type DoorRoute = readonly [
  method: 'GET' | 'POST',
  path: string,
  before: readonly MiddlewareHandler<PaperEnv>[],
  handler: (c: PaperContext) => Response | Promise<Response>,
];

/** The hue of a paper that is not shown. */
const PLAIN_HUE = 250;

/** Renders a page of the console for somebody who is not signed in. */
export async function sendDoor<Route extends keyof DoorPages>(
  { render }: Pick<DoorParts, 'render'>,
  c: PaperContext,
  [route, title, status = 200]: readonly [route: Route, title: string, status?: number],
  content: Omit<DoorPages[Route], 'frame'>,
): Promise<Response> {
  const view = { ...content, frame: doorFrame(c, title) } as DoorPages[Route] & Pages[Route];
  return sendConsole(c, await render(route, view), status);
}

function doorFrame(c: PaperContext, title: string): DoorFrame {
  const { slug, served } = c.get('console');
  // Undefined for a private paper and for one that does not exist.
  const site: PaperEnv['Variables']['site'] | undefined = c.get('site');
  const root = `${served}/console/`;
  if (site === undefined) {
    const paper = { nameplate: slug, language: 'en', hue: PLAIN_HUE, typefaces: DEFAULT_TYPEFACES, url: null };
    return { title, root, paper };
  }
  const { nameplate, language, hue, typefaces = DEFAULT_TYPEFACES } = site.paper;
  return { title, root, paper: { nameplate, language, hue, typefaces, url: `${site.root}/` } };
}

/** The sign-in page. */
export function sendSignIn(
  parts: Pick<DoorParts, 'render'>,
  c: PaperContext,
  status: number,
  view: Partial<Omit<DoorPages['/console/sign-in'], 'frame' | 'has_passkeys'>> = {},
): Promise<Response> {
  const has_passkeys = canHavePasskeys(c.get('console').origin);
  const title = view.sent ? 'Check your e-mail' : 'Sign in';
  const content = { problem: null, asked: '', sent: false, to: '', has_passkeys, ...view };
  return sendDoor(parts, c, ['/console/sign-in', title, status], content);
}

/** Shows faults to browsers that are not signed in, as messages on the sign-in page. */
export const doorFaults = (parts: Pick<DoorParts, 'render'>) =>
  createMiddleware<PaperEnv>(async (c, next) => {
    await next();
    const { error } = c;
    const isForPeople = error instanceof Fault && error.code !== 'unavailable' && !wantsRecord(c);
    if (!isForPeople || c.get('session') !== undefined || c.get('console') === undefined) return;
    c.res = await sendSignIn(parts, c, c.res.status, { problem: { of: null, text: problemOf(error) } });
  });
