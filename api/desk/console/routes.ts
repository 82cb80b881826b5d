import type { BlockList } from 'node:net';
import type { OpenAPIHono } from '@hono/zod-openapi';
import type { MiddlewareHandler } from 'hono';
import { createMiddleware } from 'hono/factory';
import type { Build } from '../../../src/desk/press/build.ts';
import type { AppContext } from '../../../src/server/context.ts';
import { Fault } from '../../../src/shared/fault.ts';
import type { PaperContext, PaperEnv } from '../../env.ts';
import type { Ask } from '../../middleware/acting.ts';
import { notFound } from '../../middleware/key.ts';
import { fileHeaders } from '../../responses/files.ts';
import { wantsRecord } from '../../responses/send.ts';
import { sendFile } from '../../responses/send-file.ts';
import { Clients } from '../oauth/clients.ts';
import type { Sites } from '../site.ts';
import { consoleAction, refusalOf } from './action.ts';
import { authorizePages, openAgain } from './authorize.ts';
import { registerDoor } from './door-routes.ts';
import { editorAction, editorFile, editorPage } from './editor.ts';
import { editorGuards } from './editor-form.ts';
import { factActions, factPage, factsPage } from './facts.ts';
import { type ConsoleParts, consolePage, Notices, refusedPage } from './page.ts';
import { paperPages } from './paper-routes.ts';
import {
  activityPage,
  agentActions,
  agentsPage,
  countsPage,
  readerActions,
  readerPage,
  readersCsv,
  readersPage,
  webhookActions,
  webhooksPage,
} from './people.ts';
import { pieceFrame } from './piece-frame.ts';
import { bulkAction, changesPage, pieceActions, piecePage, piecesPage } from './pieces.ts';
import type { ConsoleRoute, RouteMakers } from './route.ts';
import { type ConsoleContext, consoleSession, formGuards, requireSeat } from './session.ts';
import { sessionRoutes, sessionsPage } from './sessions.ts';
import { todayPage } from './today.ts';

/** Every page and action of the console. */
export function consoleRoutes(parts: ConsoleParts, build: Build, proxies: BlockList): readonly ConsoleRoute[] {
  const { app } = parts;
  const authorize = authorizePages(parts, new Clients(app));
  const page: RouteMakers['page'] = (level, show) => consolePage(parts, level, (c) => show(parts, c));
  const actions: RouteMakers['actions'] = (under, named, guards) =>
    Object.entries(named).map(([name, action]) => ['POST', `${under}${name}`, consoleAction(parts, action), guards]);
  return [
    ['GET', '', page('read', todayPage)],
    ['GET', 'pieces', page('read', piecesPage)],
    ['POST', 'pieces/all', bulkAction(parts)],
    ['GET', 'pieces/:id', page('read', piecePage)],
    ['GET', 'pieces/:id/changes', page('read', changesPage)],
    ['GET', 'pieces/:id/page/*', pieceFrame(app, build)],
    ...actions('pieces/:id/', pieceActions(parts)),
    ['GET', 'facts', page('read', factsPage)],
    ['GET', 'facts/:key', page('read', factPage)],
    ...actions('facts/', factActions()),
    ['GET', 'agents', page('admin', agentsPage)],
    ['GET', 'readers', page('read', readersPage)],
    ['GET', 'readers/export.csv', readersCsv(parts)],
    ['GET', 'readers/:email', page('admin', readerPage)],
    ['GET', 'webhooks', page('admin', webhooksPage)],
    ['GET', 'counts', page('read', countsPage)],
    ['GET', 'activity', page('admin', activityPage)],
    ...actions('', { ...agentActions, ...readerActions, ...webhookActions }),
    ['GET', 'authorize', authorize.show],
    ['POST', 'authorize', authorize.decide],
    ...paperPages(parts, build, { page, actions }),
    ['GET', 'sessions', page('read', sessionsPage)],
    ...sessionRoutes(parts, proxies),
    ['GET', 'write', editorPage(parts)],
    ['POST', 'write', editorAction(parts), editorGuards],
    ['GET', 'write/page/*', editorFile(parts, build)],
    ['GET', 'pieces/:id/edit', editorPage(parts)],
    ['POST', 'pieces/:id/edit', editorAction(parts), editorGuards],
  ];
}

/** Adds the console of every paper to the router. */
export function registerConsole(
  router: OpenAPIHono<PaperEnv>,
  {
    app,
    build,
    ask,
    sites,
    reads,
    proxies,
  }: {
    app: AppContext;
    build: Build;
    ask: Ask;
    sites: Sites;
    reads: MiddlewareHandler<PaperEnv>;
    proxies: BlockList;
  },
): void {
  const parts: ConsoleParts = { app, ask, render: build.render, notices: new Notices() };
  router.use('/console/*', faultsAsPages(parts), consoleSession(app, sites), reads);
  router.get('/console', (c: PaperContext) => c.redirect(`${c.get('console').base}/console/`, 301));
  registerDoor(router, { app, render: build.render, proxies });
  router.get('/console/_astro/:file', (c: PaperContext) => builtFile(build, c));
  router.get('/console/authorize', openAgain as never);
  for (const [method, path, handle, guards = formGuards] of consoleRoutes(parts, build, proxies)) {
    const before = method === 'POST' ? guards : [];
    router.on(method, [`/console/${path}`], requireSeat, ...before, ((c: ConsoleContext) => handle(c)) as never);
  }
}

/** Shows the faults of pages and forms as pages, for people who are signed in. */
function faultsAsPages(parts: ConsoleParts) {
  return createMiddleware<PaperEnv>(async (c, next) => {
    await next();
    const { error } = c;
    if (!(error instanceof Fault) || c.get('session') === undefined || wantsRecord(c)) return;
    const { status } = c.res;
    const body = await c.res.clone().json();
    c.res = await refusedPage(parts, c as unknown as ConsoleContext, status, refusalOf(body));
  });
}

/** A stylesheet, font or script of the build, which every console has below its own path. */
function builtFile(build: Build, c: PaperContext): Promise<Response> {
  const path = `_astro/${c.req.param('file')}`;
  const found = build.asset(path);
  if (found === null) throw notFound();
  const headers = fileHeaders(`/${path}`, c.get('console').served, []);
  return sendFile(c, { file: path, content: found, status: 200, headers });
}
