import type { Level } from '../../src/desk/keys.ts';

/** The lowest key level that a route requires. `public` needs no key; `token` needs the link from a mail. */
export type Access = 'public' | 'token' | Level;

type Row = readonly [method: 'GET' | 'POST' | 'PUT' | 'DELETE', path: string, access: Access, handler: string];

/**
 * Every route under a paper's root, which is `/<paper>` on the shared host and the root of the paper's own domain. Each
 * name refers to a handler. The routes in the OpenAPI document are listed there in this order.
 */
export const PAPER_ROUTES = [
  ['GET', '/api/v1', 'public', 'readIndex'],
  ['GET', '/api/v1/stories', 'public', 'listStories'],
  ['GET', '/api/v1/stories/{id}', 'public', 'readStory'],
  ['GET', '/api/v1/stories/{id}/proof', 'read', 'readProof'],
  ['GET', '/api/v1/sections', 'public', 'listSections'],
  ['GET', '/api/v1/tags', 'public', 'listTags'],
  ['GET', '/api/v1/days', 'public', 'listDays'],
  ['GET', '/api/v1/days/{day}', 'public', 'readDay'],
  ['GET', '/api/v1/search', 'public', 'search'],
  ['GET', '/api/v1/front', 'public', 'readFront'],
  ['GET', '/api/v1/cast', 'public', 'listCast'],
  ['GET', '/api/v1/masthead', 'public', 'listMasthead'],
  ['GET', '/api/v1/posts', 'public', 'listPosts'],
  ['GET', '/embed/{id}', 'public', 'readEmbed'],
  ['GET', '/embed/{id}/', 'public', 'embedFolder'],
  ['GET', '/oembed', 'public', 'readOEmbed'],
  ['POST', '/api/v1/stories', 'agent', 'fileStory'],
  ['PUT', '/api/v1/stories/{id}', 'agent', 'reviseStory'],
  ['POST', '/api/v1/stories/{id}/airing', 'agent', 'airStory'],
  ['DELETE', '/api/v1/stories/{id}/airing', 'admin', 'withdrawStory'],
  ['GET', '/api/v1/stories/{id}/preview', 'read', 'linkPreview'],
  ['POST', '/api/v1/preview', 'agent', 'previewStory'],
  ['GET', '/preview/{secret}', 'token', 'previewFolder'],
  ['GET', '/preview/{secret}/*', 'token', 'preview'],
  ['GET', '/api/v1/press/{ticket}', 'read', 'askPress'],
  ['GET', '/api/v1/drafts', 'read', 'listDrafts'],
  ['GET', '/api/v1/config', 'read', 'readConfig'],
  ['PUT', '/api/v1/front', 'admin', 'writeFront'],
  ['PUT', '/api/v1/config', 'admin', 'writeConfig'],
  ['PUT', '/api/v1/masthead/{slug}', 'admin', 'writePersona'],
  ['PUT', '/api/v1/cast/{day}', 'agent', 'writeCast'],
  ['GET', '/api/v1/media', 'read', 'listMedia'],
  ['POST', '/api/v1/media', 'agent', 'uploadMedia'],
  ['DELETE', '/api/v1/media/{path}', 'admin', 'removeMedia'],
  ['GET', '/api/v1/pages', 'admin', 'listPages'],
  ['GET', '/api/v1/pages/{slug}', 'admin', 'readPage'],
  ['PUT', '/api/v1/pages/{slug}', 'admin', 'writePage'],
  ['DELETE', '/api/v1/pages/{slug}', 'admin', 'removePage'],
  ['GET', '/api/v1/keys', 'admin', 'listKeys'],
  ['POST', '/api/v1/keys', 'admin', 'makeKey'],
  ['DELETE', '/api/v1/keys/{id}', 'admin', 'revokeKey'],
  ['GET', '/api/v1/agent', 'read', 'checkAgent'],
  ['GET', '/api/v1/agent/terms', 'read', 'readTerms'],
  ['POST', '/api/v1/agent/terms/accept', 'admin', 'acceptTerms'],
  ['GET', '/api/v1/subscribers', 'read', 'listSubscribers'],
  ['POST', '/api/v1/subscribers', 'public', 'subscribe'],
  ['GET', '/api/v1/subscribers/{email}', 'admin', 'readSubscriber'],
  ['DELETE', '/api/v1/subscribers/{email}', 'admin', 'eraseSubscriber'],
  ['GET', '/subscribe/confirm', 'token', 'confirmPage'],
  ['POST', '/subscribe/confirm', 'token', 'confirm'],
  ['GET', '/subscribe/manage', 'token', 'managePage'],
  ['POST', '/subscribe/manage', 'token', 'manage'],
  ['GET', '/subscribe/unsubscribe', 'token', 'unsubscribePage'],
  ['POST', '/subscribe/unsubscribe', 'token', 'unsubscribe'],
  ['GET', '/api/v1/webhooks', 'admin', 'listWebhooks'],
  ['POST', '/api/v1/webhooks', 'admin', 'addWebhook'],
  ['DELETE', '/api/v1/webhooks/{id}', 'admin', 'removeWebhook'],
  ['POST', '/api/v1/webhooks/{id}/test', 'admin', 'testWebhook'],
  ['GET', '/api/v1/deliveries', 'admin', 'listDeliveries'],
  ['POST', '/api/v1/deliveries/{id}/retry', 'admin', 'retryDelivery'],
  ['GET', '/api/v1/openapi.json', 'public', 'readOpenApi'],
  ['GET', '/api/v1/playground', 'public', 'playground'],
  ['GET', '/api/v1/playground/', 'public', 'playgroundFolder'],
  ['GET', '/api/v1/playground/{file}', 'public', 'playgroundFile'],
  ['GET', '/.well-known/api-catalog', 'public', 'readApiCatalog'],
] as const satisfies readonly Row[];

export type PaperRouteName = (typeof PAPER_ROUTES)[number][3];

/**
 * The host's own routes, which come after a paper's routes: the transparency log, which is also below the root of a
 * paper's own domain; a paper's files and pages by address; and the root of the shared host. Each one also answers HEAD
 * and OPTIONS.
 */
export const HOST_ROUTES = [
  // First, so that no paper called ready takes it.
  ['GET', '/ready', 'public', 'ready'],
  ['GET', '/log/*', 'public', 'logPage'],
  ['GET', '/{paper}/log/*', 'public', 'logPage'],
  ['GET', '/log/*', 'public', 'logFile'],
  ['GET', '/{paper}/log/*', 'public', 'logFile'],
  ['GET', '/*', 'public', 'pressedFile'],
  ['GET', '/*', 'read', 'privateFile'],
  ['GET', '/', 'public', 'newsstand'],
  ['GET', '/.well-known/api-catalog', 'public', 'hostCatalog'],
  ['GET', '/health', 'public', 'health'],
  ['GET', '/opml.xml', 'public', 'opml'],
  ['GET', '/robots.txt', 'public', 'robots'],
  ['GET', '/_astro/*', 'public', 'asset'],
  ['GET', '/favicon.svg', 'public', 'asset'],
] as const satisfies readonly Row[];

export type HostRouteName = (typeof HOST_ROUTES)[number][3];

/** A path in Hono's syntax. */
export const routingPath = (path: string): string =>
  // A media file's path has slashes.
  path.replace('{path}', ':path{.+}').replace(/\{(\w+)\}/g, ':$1');
