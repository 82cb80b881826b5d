import type { BlockList } from 'node:net';
import type { OpenAPIHono } from '@hono/zod-openapi';
import type { MiddlewareHandler } from 'hono';
import type { PressQueue } from '../../src/desk/jobs/press-queue.ts';
import { hostProver } from '../../src/desk/papers/host-proof.ts';
import type { Build } from '../../src/desk/press/build.ts';
import type { AppContext } from '../../src/server/context.ts';
import { linkKey } from '../../src/shared/files/data-folder.ts';
import { VERSION } from '../../src/shared/project.ts';
import type { PaperEnv } from '../env.ts';
import type { Ask } from '../middleware/acting.ts';
import type { PageCounts } from '../middleware/page-counts.ts';
import { logFile, logPage, newsstandHandlers } from './files/newsstand.ts';
import { OUTBOX_PATH, outboxHandlers } from './files/outbox.ts';
import { pressedFile, privateFile } from './files/pressed-file.ts';
import { mcpEndpoint } from './mcp/endpoint.ts';
import { Clients } from './oauth/clients.ts';
import { oauthEndpoints } from './oauth/endpoints.ts';
import { oauthMetadata } from './oauth/metadata.ts';
import { readOpenApi } from './openapi/document.ts';
import { playground } from './openapi/playground.ts';
import type { PaperResponses } from './paper-responses.ts';
import { listActivity } from './reading/activity.ts';
import { readApiCatalog, readIndex } from './reading/api-index.ts';
import { citedFacts } from './reading/cited-facts.ts';
import { countsHandler } from './reading/counts.ts';
import { embedHandlers, readOEmbed } from './reading/embed.ts';
import { evidenceHandlers } from './reading/evidence.ts';
import { factHandlers } from './reading/facts.ts';
import { newsroomHandlers } from './reading/newsroom.ts';
import { readProof } from './reading/proof.ts';
import { searchStories } from './reading/search.ts';
import { archiveHandlers, storyHandlers } from './reading/stories.ts';
import type { HostRoute, PaperRoute } from './route.ts';
import type { Sites } from './site.ts';
import { subscribePages } from './subscribers/pages.ts';
import { subscriberHandlers } from './subscribers/subscribers.ts';
import { readerPages } from './subscribers/view.ts';
import { deliveryHandlers } from './webhooks/deliveries.ts';
import { webhookHandlers } from './webhooks/webhooks.ts';
import { agentHandlers } from './writing/agent.ts';
import { configHandlers } from './writing/config.ts';
import { correctsFact } from './writing/facts.ts';
import { filingHandlers } from './writing/filing.ts';
import { keyHandlers } from './writing/keys.ts';
import { mediaHandlers } from './writing/media.ts';
import { pageHandlers } from './writing/pages.ts';
import { previewHandlers } from './writing/preview.ts';
import { previewPage } from './writing/preview-page.ts';
import { decideReview } from './writing/review.ts';
import { sessionHandlers } from './writing/sessions.ts';
import { askPress, type Writer } from './writing/write.ts';

interface PaperParts {
  writer: Writer;
  sites: Sites;
  build: Build;
  responses: PaperResponses;
  proxies: BlockList;
  /** Limits each caller's reads and subscription requests. */
  reads: MiddlewareHandler<PaperEnv>;
  orders: MiddlewareHandler<PaperEnv>;
  /** The router from which the OpenAPI document is generated. */
  router: OpenAPIHono<PaperEnv>;
  ask: Ask;
}

/**
 * Every route under a paper's root, which is `/<paper>` on the shared host and the root of the paper's own domain:
 * method, path, access, handler. The OpenAPI document lists operations in this order.
 */
export function paperRoutes(parts: PaperParts): readonly PaperRoute[] {
  const { writer, sites, build, responses, proxies, reads, orders, router, ask } = parts;
  const { app } = writer;
  const stories = storyHandlers(app);
  const archive = archiveHandlers(app);
  const newsroom = newsroomHandlers(app);
  const facts = factHandlers(app);
  const evidence = evidenceHandlers(app);
  const embed = embedHandlers(app, build);
  const filing = filingHandlers(writer);
  const previews = previewHandlers(app, build.render);
  const preview = previewPage(app, build, sites, reads);
  const config = configHandlers(writer, hostProver(app.settings));
  const media = mediaHandlers(writer);
  const pages = pageHandlers(writer);
  const keys = keyHandlers(writer);
  const sessions = sessionHandlers(writer);
  const agent = agentHandlers(writer);
  const readers = {
    secret: linkKey(app.settings, 'readers'),
    pages: readerPages(app, build.render),
    throttle: orders,
  };
  const subscribers = subscriberHandlers(router, writer, readers);
  const links = subscribePages(app, readers, sites, reads);
  const webhooks = webhookHandlers(writer);
  const deliveries = deliveryHandlers(writer);
  const tryOut = playground(responses);
  const metadata = oauthMetadata(sites);
  const oauth = oauthEndpoints({ app, sites, clients: new Clients(app), proxies });
  const mcp = mcpEndpoint(app.settings, writer.logger, ask, responses);
  return [
    ['GET', '/api/v1', 'public', readIndex(router)],
    ['GET', '/api/v1/stories', 'public', stories.list],
    ['GET', '/api/v1/stories/{id}', 'public', stories.one],
    ['GET', '/api/v1/stories/{id}/proof', 'read', readProof(app)],
    ['GET', '/api/v1/sections', 'public', archive.sections],
    ['GET', '/api/v1/tags', 'public', archive.tags],
    ['GET', '/api/v1/days', 'public', archive.days],
    ['GET', '/api/v1/days/{day}', 'public', archive.day],
    ['GET', '/api/v1/search', 'public', searchStories({ app, sites, proxies, responses })],
    ['GET', '/api/v1/facts', 'public', facts.list],
    ['GET', '/api/v1/facts/{claim_key}', 'public', facts.one],
    ['GET', '/api/v1/evidence', 'read', evidence.toRevise],
    ['GET', '/evidence/{file}', 'public', { before: [], handle: evidence.archived }],
    ['GET', '/api/v1/cited-facts', 'public', citedFacts(app, responses)],
    ['GET', '/api/v1/front', 'public', newsroom.front],
    ['GET', '/api/v1/cast', 'public', newsroom.cast],
    ['GET', '/api/v1/masthead', 'public', newsroom.masthead],
    ['GET', '/api/v1/posts', 'public', newsroom.posts],
    ['GET', '/embed/{id}', 'public', embed.card],
    ['GET', '/embed/{id}/', 'public', embed.folder],
    ['GET', '/oembed', 'public', readOEmbed(app, responses)],
    ['POST', '/api/v1/stories', 'agent', filing.file],
    ['PUT', '/api/v1/stories/{id}', 'agent', filing.revise],
    ['POST', '/api/v1/stories/{id}/airing', 'agent', filing.airing],
    ['DELETE', '/api/v1/stories/{id}/airing', 'admin', filing.withdraw],
    ['POST', '/api/v1/stories/{id}/review', 'admin', decideReview(writer)],
    ['PUT', '/api/v1/facts/{claim_key}', 'agent', correctsFact(writer)],
    ['GET', '/api/v1/stories/{id}/preview', 'read', previews.link],
    ['POST', '/api/v1/preview', 'agent', previews.preview],
    ['GET', '/preview/{secret}', 'token', preview],
    ['GET', '/preview/{secret}/*', 'token', preview],
    ['GET', '/api/v1/press/{ticket}', 'read', askPress(app)],
    ['GET', '/api/v1/drafts', 'read', config.drafts],
    ['GET', '/api/v1/config', 'read', config.readConfig],
    ['PUT', '/api/v1/front', 'admin', config.writeFront],
    ['PUT', '/api/v1/config', 'admin', config.writeConfig],
    ['PUT', '/api/v1/masthead/{slug}', 'admin', config.writePersona],
    ['PUT', '/api/v1/cast/{day}', 'agent', config.writeCast],
    ['GET', '/api/v1/media', 'read', media.list],
    ['POST', '/api/v1/media', 'agent', media.upload],
    ['DELETE', '/api/v1/media/{path}', 'admin', media.remove],
    ['GET', '/api/v1/pages', 'admin', pages.list],
    ['GET', '/api/v1/pages/{slug}', 'admin', pages.read],
    ['PUT', '/api/v1/pages/{slug}', 'admin', pages.put],
    ['DELETE', '/api/v1/pages/{slug}', 'admin', pages.remove],
    ['GET', '/api/v1/keys', 'admin', keys.list],
    ['POST', '/api/v1/keys', 'admin', keys.make],
    ['GET', '/api/v1/keys/{id}', 'admin', keys.read],
    ['PUT', '/api/v1/keys/{id}', 'admin', keys.pause],
    ['DELETE', '/api/v1/keys/{id}', 'admin', keys.revoke],
    ['GET', '/api/v1/agent', 'read', agent.check],
    ['GET', '/api/v1/agent/terms', 'read', agent.terms],
    ['POST', '/api/v1/agent/terms/accept', 'admin', agent.accept],
    ['GET', '/api/v1/sessions', 'admin', sessions.list],
    ['DELETE', '/api/v1/sessions/{id}', 'admin', sessions.end],
    ['GET', '/api/v1/activity', 'admin', listActivity(app)],
    ['GET', '/api/v1/counts', 'read', countsHandler(app)],
    ['GET', '/api/v1/subscribers', 'read', subscribers.list],
    ['POST', '/api/v1/subscribers', 'public', subscribers.subscribe],
    ['GET', '/api/v1/subscribers/counts', 'read', subscribers.counts],
    ['GET', '/api/v1/subscribers/export', 'admin', subscribers.exported],
    ['GET', '/api/v1/subscribers/{email}', 'admin', subscribers.read],
    ['DELETE', '/api/v1/subscribers/{email}', 'admin', subscribers.remove],
    ['GET', '/subscribe/confirm', 'token', links.confirm.show],
    ['POST', '/subscribe/confirm', 'token', links.confirm.submit],
    ['GET', '/subscribe/manage', 'token', links.manage.show],
    ['POST', '/subscribe/manage', 'token', links.manage.submit],
    ['GET', '/subscribe/unsubscribe', 'token', links.unsubscribe.show],
    ['POST', '/subscribe/unsubscribe', 'token', links.unsubscribe.submit],
    ['GET', '/api/v1/webhooks', 'admin', webhooks.list],
    ['POST', '/api/v1/webhooks', 'admin', webhooks.add],
    ['PUT', '/api/v1/webhooks/{id}', 'admin', webhooks.change],
    ['DELETE', '/api/v1/webhooks/{id}', 'admin', webhooks.remove],
    ['POST', '/api/v1/webhooks/{id}/secret', 'admin', webhooks.replaceSecret],
    ['POST', '/api/v1/webhooks/{id}/test', 'admin', webhooks.tryOut],
    ['GET', '/api/v1/deliveries', 'admin', deliveries.list],
    ['POST', '/api/v1/deliveries/{id}/retry', 'admin', deliveries.retry],
    ['GET', '/api/v1/openapi.json', 'public', readOpenApi(router, app, VERSION)],
    ['GET', '/api/v1/playground', 'public', tryOut.page],
    ['GET', '/api/v1/playground/', 'public', tryOut.folder],
    ['GET', '/api/v1/playground/{file}', 'public', tryOut.file],
    ['GET', '/.well-known/api-catalog', 'public', readApiCatalog(responses)],
    ['POST', '/mcp', 'public', mcp.message],
    ['GET', '/mcp/server-card', 'public', mcp.card],
    ['GET', '/.well-known/mcp/server-card.json', 'public', mcp.cardAsJson],
    ['GET', metadata.resourcePath, 'public', metadata.resource],
    ['GET', metadata.serverPath, 'public', metadata.server],
    ['POST', '/oauth/register', 'public', oauth.register],
    ['POST', '/oauth/token', 'public', oauth.token],
    ['POST', '/oauth/revoke', 'public', oauth.revoke],
  ];
}

interface HostParts extends Pick<PaperParts, 'sites' | 'build'> {
  app: AppContext;
  presses: PressQueue;
  /** The papers that are yet to be filed. */
  backlog: ReadonlySet<string>;
  /** Counts reads of pages, if the operator wants it. */
  counts: PageCounts | null;
}

/**
 * The host's own routes, which come after a paper's routes: the transparency log, which is also below the root of a
 * paper's own domain; a paper's files and pages by address; and the root of the shared host. Each one also answers HEAD
 * and OPTIONS.
 */
export function hostRoutes({ app, sites, build, presses, backlog, counts }: HostParts): readonly HostRoute[] {
  const page = logPage(app, sites, build.render);
  const file = logFile(app, sites);
  const host = newsstandHandlers(app, build, { presses, backlog });
  const outbox = outboxHandlers(app);
  return [
    // First, so that no paper called ready takes it.
    ['GET', '/ready', 'public', host.ready],
    ['GET', OUTBOX_PATH, 'public', outbox.list],
    ['GET', `${OUTBOX_PATH}:name`, 'public', outbox.mail],
    ['GET', `${OUTBOX_PATH}:name/html`, 'public', outbox.body],
    ['GET', '/log/*', 'public', page],
    ['GET', '/:paper/log/*', 'public', page],
    ['GET', '/log/*', 'public', file],
    ['GET', '/:paper/log/*', 'public', file],
    ['GET', '/*', 'public', pressedFile(app, sites, { presses, backlog, build, counts })],
    ['GET', '/*', 'read', privateFile(app, sites, build)],
    ['GET', '/', 'public', host.newsstand],
    ['GET', '/.well-known/api-catalog', 'public', host.hostCatalog],
    ['GET', '/.well-known/agent-skills/index.json', 'public', host.hostSkills],
    ['GET', '/health', 'public', host.health],
    ['GET', '/opml.xml', 'public', host.opml],
    ['GET', '/robots.txt', 'public', host.robots],
    ['GET', '/_astro/*', 'public', host.asset],
    ['GET', '/favicon.svg', 'public', host.asset],
  ];
}
