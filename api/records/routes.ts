import type { OpenAPIHono } from '@hono/zod-openapi';
import type { Logger } from 'pino';
import type { Build } from '../../src/desk/press/build.ts';
import { askedCheck } from '../../src/records/jobs/owner-checks.ts';
import { lookAtOnce } from '../../src/records/jobs/owner-look.ts';
import type { Checkout } from '../../src/records/meter/checkout.ts';
import type { AppContext } from '../../src/server/context.ts';
import { linkKey } from '../../src/shared/files/data-folder.ts';
import { ownPolicy } from '../../src/signing/log/log-publication.ts';
import type { RecordsEnv } from '../env.ts';
import type { Ask } from '../middleware/acting.ts';
import { alertHandlers, unsubscribeHandlers } from './account/alerts.ts';
import { expectationHandlers } from './account/expectations.ts';
import { downloadHandlers } from './account/exports.ts';
import { groupFeed } from './account/group-feed.ts';
import { groupHandlers } from './account/groups.ts';
import { keyHandlers } from './account/keys.ts';
import { nameHandlers } from './account/names.ts';
import { dataHandlers, sendOverview, usageHandlers } from './account/overview.ts';
import { signedInPage } from './account/pages.ts';
import { planHandlers } from './account/plans.ts';
import { signInHandlers } from './account/sign-in.ts';
import type { Refusals } from './lanes/payment.ts';
import { planCounter } from './lanes/plan-counter.ts';
import { mcpEndpoint } from './mcp/endpoint.ts';
import { apiDescription } from './openapi/document.ts';
import { playground } from './openapi/playground.ts';
import { optOutDomain, pauseDomain, watchDomains } from './operator/domains.ts';
import { enrichBatch } from './operator/enrich-batch.ts';
import { listTables, queryRecords } from './operator/query.ts';
import { endLease, leaseHostnames, readQueue, submitResults } from './operator/queue.ts';
import { analyticsPage } from './pages/analytics.ts';
import { badge } from './pages/badge.ts';
import { changesPages } from './pages/changes.ts';
import { changeFeeds } from './pages/changes-feed.ts';
import { discovery, robots } from './pages/discovery.ts';
import { docsPage } from './pages/docs.ts';
import { domainsPage } from './pages/domains.ts';
import { dumpHandlers } from './pages/dumps.ts';
import { facetPages } from './pages/facets.ts';
import { landingPage } from './pages/landing.ts';
import { logFiles, logPage, logWithoutSlash } from './pages/log.ts';
import { assets, type PageSender } from './pages/page.ts';
import { pricingPage } from './pages/pricing.ts';
import { searchPage } from './pages/search.ts';
import { timeMachine } from './pages/time-machine.ts';
import { verifyPage } from './pages/verify.ts';
import type { RecordsRoute } from './route.ts';
import type { ChangeFeed } from './stream/feed.ts';
import { streamChanges } from './stream/stream.ts';
import { alertOperations } from './v1/account/alerts.ts';
import { expectationOperations } from './v1/account/expectations.ts';
import { keyOperations } from './v1/account/keys.ts';
import { nameOperations } from './v1/account/names.ts';
import { groupOperations, watchOperations } from './v1/account/watch.ts';
import { readAnalytics } from './v1/analytics.ts';
import { listChanges, readTape } from './v1/changes.ts';
import { buyCredits, moveCredits } from './v1/credits.ts';
import { listDomains, readDomain } from './v1/domains.ts';
import { exportCatalog, exportChanges, exportDomain, exportEvidence, exportFiles, exportList } from './v1/exports.ts';
import { listFacet } from './v1/facets.ts';
import { readHealth, readReadiness } from './v1/health.ts';
import { listHistory, readSeries } from './v1/history.ts';
import { buyPlan, listBoughtPlans, listPlans } from './v1/plans.ts';
import { listProvenance, readSigningKeys, sendProvenance } from './v1/provenance.ts';
import { searchRecords } from './v1/search.ts';
import { readUsage } from './v1/usage.ts';

export interface RecordsParts {
  app: AppContext;
  logger: Logger;
  pages: PageSender;
  feed: ChangeFeed;
  asset: Build['asset'];
  /** Sends a request to the whole service. */
  ask: Ask;
}

interface Router {
  /** Null while the paid lane is closed. */
  checkout: Checkout | null;
  refusals: Refusals;
  router: OpenAPIHono<RecordsEnv>;
}

/**
 * The URL map: method, path, access, handler. The first match answers; a path without parameters goes before any with
 * one.
 */
export function recordsRoutes(
  { app, logger, pages, feed, asset, ask }: RecordsParts,
  { checkout, refusals, router }: Router,
): readonly RecordsRoute[] {
  const { store, settings } = app;
  const files = exportFiles(app);
  const feeds = changeFeeds(app);
  const changes = changesPages(app, pages);
  const facets = facetPages(app, pages);
  const description = apiDescription(router, settings);
  const tryOut = playground(settings);
  const mcp = mcpEndpoint(settings, logger, ask);
  const linkSecret = linkKey(settings, 'accounts');
  const signIn = signInHandlers(app, linkSecret, pages);
  const overview = sendOverview(app, pages);
  const keys = keyHandlers(app, pages, overview);
  const usage = usageHandlers(app, pages);
  const asking = { check: askedCheck(app), look: lookAtOnce(app) };
  const names = nameHandlers(app, pages, asking);
  const own = {
    alerts: alertOperations(app),
    expectations: expectationOperations(app),
    groups: groupOperations(app, linkSecret),
    keys: keyOperations(app),
    names: nameOperations(app, asking),
    watch: watchOperations(app),
  };
  const counter = planCounter(app, { checkout, refusals });
  const plans = planHandlers(app, counter, pages);
  const groups = groupHandlers(app, linkSecret, pages);
  const alerts = alertHandlers(app, pages);
  const expectations = expectationHandlers(app, pages);
  const downloads = downloadHandlers(app, logger, { files, provenance: sendProvenance(app) });
  const data = dataHandlers(app, pages);
  const found = discovery(app);
  const dumps = dumpHandlers(app, pages);
  const unsubscribe = unsubscribeHandlers(app, linkSecret, pages);

  const routes: readonly RecordsRoute[] = [
    // For monitors and verifiers.
    ['GET', '/health', 'public', readHealth(app)],
    ['GET', '/ready', 'public', readReadiness(app)],
    ['GET', '/.well-known/records-keys.json', 'public', readSigningKeys(store)],

    // Pages and feeds, for everyone.
    ['GET', '/', 'public', landingPage(app, pages)],
    ['GET', '/t/{domain}', 'public', timeMachine(app, pages)],
    ['GET', '/changes', 'public', changes.chosen],
    ['GET', '/changes/today', 'public', changes.today],
    ['GET', '/changes/{date}', 'public', changes.ofDay],
    ['GET', '/changes.json', 'public', feeds.json],
    ['GET', '/changes.rss', 'public', feeds.rss],
    ['GET', '/badge/:file{.+[.][sS][vV][gG]}', 'public', badge(app)],
    ['GET', '/verify', 'public', verifyPage(app, pages)],
    ['GET', '/domains', 'public', domainsPage(app, pages)],
    ['GET', '/services', 'public', facets.names('service')],
    ['GET', '/services/{kind}/{name}', 'public', facets.hosts('service')],
    ['GET', '/issuers', 'public', facets.names('issuer')],
    ['GET', '/issuers/{name}', 'public', facets.hosts('issuer')],
    ['GET', '/mail-hosts', 'public', facets.names('mailhost')],
    ['GET', '/mail-hosts/{name}', 'public', facets.hosts('mailhost')],
    ['GET', '/dns-hosts', 'public', facets.names('nameserver')],
    ['GET', '/dns-hosts/{name}', 'public', facets.hosts('nameserver')],
    ['GET', '/types', 'public', facets.names('type')],
    ['GET', '/types/{name}', 'public', facets.hosts('type')],
    ['GET', '/analytics', 'public', analyticsPage(app, pages)],
    ['GET', '/search', 'public', searchPage(app, pages)],
    ['GET', '/pricing', 'public', pricingPage(app, pages)],
    ['GET', '/feeds/{id}/{file}', 'public', groupFeed(app, linkSecret)],
    ['GET', '/docs', 'public', docsPage(app, pages, () => routes)],
    ['GET', '/dumps/', 'public', dumps.page],
    ['GET', '/log/', 'public', logPage(app, pages, () => ownPolicy(app.settings))],
    ['GET', '/llms.txt', 'public', found.llms],
    ['GET', '/SKILL.md', 'public', found.skill],
    ['GET', '/sitemap.xml', 'public', found.sitemap],
    ['GET', '/.well-known/security.txt', 'public', found.security],
    ['GET', '/dumps', 'static', dumps.withoutSlash],
    ['GET', '/robots.txt', 'static', robots(settings.dataOrigin)],
    ['GET', '/favicon.svg', 'static', assets(asset, settings)],
    ['GET', '/_astro/*', 'static', assets(asset, settings)],
    ['GET', '/log', 'static', logWithoutSlash],
    ['GET', '/log/*', 'static', logFiles(settings)],

    // The data API.
    ['GET', '/.well-known/api-catalog', 'public', found.catalog],
    ['GET', '/v1', 'public', description.readIndex],
    ['GET', '/v1/openapi.json', 'public', description.readOpenApi],
    ['GET', '/docs/playground', 'public', tryOut.page],
    ['GET', '/docs/playground/', 'static', tryOut.withoutSlash],
    ['GET', '/docs/playground/{file}', 'public', tryOut.file],
    ['GET', '/dumps/index.json', 'public', dumps.list],
    ['GET', '/dumps/{day}/proof.json', 'public', dumps.proof],
    ['GET', '/dumps/{file}', 'static', dumps.file],
    ['GET', '/v1/tape', 'public', readTape(store)],
    ['GET', '/v1/domains', 'read', listDomains(store)],
    ['GET', '/v1/domains/{domain}', 'lookup', readDomain(app)],
    ['GET', '/v1/domains/{domain}/provenance', 'read', listProvenance(app)],
    ['GET', '/v1/domains/{domain}/history', 'read', listHistory(app)],
    ['GET', '/v1/domains/{domain}/series', 'read', readSeries(app)],
    ['GET', '/v1/changes', 'read', listChanges(app)],
    ['GET', '/v1/stream', 'read', streamChanges(app, feed, logger)],
    ['GET', '/v1/services', 'read', listFacet(store, 'service')],
    ['GET', '/v1/issuers', 'read', listFacet(store, 'issuer')],
    ['GET', '/v1/mail-hosts', 'read', listFacet(store, 'mailhost')],
    ['GET', '/v1/dns-hosts', 'read', listFacet(store, 'nameserver')],
    ['GET', '/v1/search', 'read', searchRecords(store)],
    ['GET', '/v1/analytics', 'read', readAnalytics(app)],
    ['GET', '/v1/exports/changes.csv', 'export', exportChanges(files)],
    ['GET', '/v1/exports/domains.csv', 'export', exportCatalog(files)],
    ['GET', '/v1/exports/services.csv', 'export', exportList(files, 'services.csv', 'service')],
    ['GET', '/v1/exports/issuers.csv', 'export', exportList(files, 'issuers.csv', 'issuer')],
    ['GET', '/v1/exports/mail-hosts.csv', 'export', exportList(files, 'mail-hosts.csv', 'mailhost')],
    ['GET', '/v1/exports/dns-hosts.csv', 'export', exportList(files, 'dns-hosts.csv', 'nameserver')],
    ['GET', '/v1/exports/domains/{file}', 'export', exportDomain(files)],
    ['GET', '/v1/exports/domains/{domain}/evidence.json', 'export', exportEvidence(files)],
    ['GET', '/v1/usage', 'usage', readUsage(app)],
    ['POST', '/v1/credits', 'usage', buyCredits(app, { checkout, refusals })],
    ['GET', '/v1/plans', 'public', listPlans(app)],
    ['POST', '/v1/plans/{name}', 'usage', buyPlan(app, counter)],
    ['GET', '/v1/account/plans', 'usage', listBoughtPlans(app)],
    ['GET', '/v1/account/groups', 'usage', own.groups.list],
    ['POST', '/v1/account/groups', 'usage', own.groups.make],
    ['GET', '/v1/account/groups/{id}', 'usage', own.groups.show],
    ['PATCH', '/v1/account/groups/{id}', 'usage', own.groups.rename],
    ['DELETE', '/v1/account/groups/{id}', 'usage', own.groups.remove],
    ['POST', '/v1/account/groups/{id}/feed', 'usage', own.groups.makeFeed],
    ['DELETE', '/v1/account/groups/{id}/feed', 'usage', own.groups.endFeed],
    ['GET', '/v1/account/watch', 'usage', own.watch.list],
    ['POST', '/v1/account/watch', 'usage', own.watch.add],
    ['DELETE', '/v1/account/watch/{hostname}', 'usage', own.watch.take],
    ['GET', '/v1/account/alerts', 'usage', own.alerts.list],
    ['POST', '/v1/account/alerts', 'usage', own.alerts.make],
    ['GET', '/v1/account/alerts/{id}', 'usage', own.alerts.show],
    ['PATCH', '/v1/account/alerts/{id}', 'usage', own.alerts.switchOn],
    ['DELETE', '/v1/account/alerts/{id}', 'usage', own.alerts.remove],
    ['POST', '/v1/account/alerts/{id}/test', 'usage', own.alerts.test],
    ['POST', '/v1/account/alerts/{id}/secret', 'usage', own.alerts.renewSecret],
    ['POST', '/v1/account/alerts/{id}/deliveries/{delivery}/retry', 'usage', own.alerts.sendAgain],
    ['GET', '/v1/account/names', 'usage', own.names.list],
    ['POST', '/v1/account/names', 'usage', own.names.begin],
    ['GET', '/v1/account/names/{hostname}', 'usage', own.names.show],
    ['DELETE', '/v1/account/names/{hostname}', 'usage', own.names.giveUp],
    ['POST', '/v1/account/names/{hostname}/proof', 'usage', own.names.check],
    ['POST', '/v1/account/names/{hostname}/look', 'usage', own.names.look],
    ['PUT', '/v1/account/names/{hostname}/opt', 'usage', own.names.opt],
    ['GET', '/v1/account/notes', 'usage', own.names.notes],
    ['PUT', '/v1/account/changes/{seq}/note', 'usage', own.names.putNote],
    ['DELETE', '/v1/account/changes/{seq}/note', 'usage', own.names.removeNote],
    ['GET', '/v1/account/expectations', 'usage', own.expectations.list],
    ['PUT', '/v1/account/expectations', 'usage', own.expectations.put],
    ['POST', '/v1/account/expectations', 'usage', own.expectations.plan],
    ['DELETE', '/v1/account/expectations', 'usage', own.expectations.remove],
    ['GET', '/v1/account/expectations/{id}', 'usage', own.expectations.show],
    ['DELETE', '/v1/account/expectations/{id}', 'usage', own.expectations.cancel],
    ['GET', '/v1/account/keys', 'usage', own.keys.list],
    ['POST', '/v1/account/keys', 'usage', own.keys.make],
    ['DELETE', '/v1/account/keys/{id}', 'usage', own.keys.revoke],

    // Scanners and operators.
    ['POST', '/v1/queue/lease', 'queue', leaseHostnames(app)],
    ['GET', '/v1/queue/stats', 'queue', readQueue(app)],
    ['DELETE', '/v1/queue/{lease}', 'queue', endLease(app)],
    ['POST', '/v1/queue/{lease}/results', 'queue', submitResults(app)],
    ['POST', '/v1/domains', 'operator', watchDomains(app)],
    ['DELETE', '/v1/domains/{domain}', 'operator', pauseDomain(store)],
    ['POST', '/v1/opt-out', 'operator', optOutDomain(app)],
    ['POST', '/v1/enrich-batch', 'operator', enrichBatch(app, logger)],
    ['GET', '/v1/bq/tables', 'operator', listTables()],
    ['POST', '/v1/bq/query', 'operator', queryRecords(app)],
    ['POST', '/v1/accounts/{email}/credits', 'operator', moveCredits(app)],

    // Agents.
    ['POST', '/mcp', 'public', mcp.message],
    ['GET', '/mcp/server-card', 'public', mcp.card],
    ['GET', '/.well-known/mcp/server-card.json', 'public', mcp.cardAsJson],

    // Accounts: pages and forms, by session.
    ['GET', '/account/sign-in', 'public', signIn.page],
    ['POST', '/account/sign-in', 'public', signIn.sendLink],
    ['GET', '/account/enter', 'public', signIn.enterPage],
    ['POST', '/account/enter', 'public', signIn.enter],
    ['POST', '/account/sign-out', 'public', signIn.signOut],
    ['POST', '/account/sessions/{id}/end', 'public', signIn.endSession],
    ['GET', '/account/sessions', 'public', signIn.sessions],
    ['GET', '/account', 'public', signedInPage(overview)],
    ['GET', '/account/keys', 'public', keys.list],
    ['POST', '/account/keys', 'public', keys.create],
    ['POST', '/account/keys/{id}/revoke', 'public', keys.revoke],
    ['GET', '/account/usage', 'public', usage.usage],
    ['GET', '/account/credits', 'public', usage.credits],
    ['GET', '/account/plans/{name}', 'public', plans.show],
    ['POST', '/account/plans/{name}', 'public', plans.buy],
    ['GET', '/account/receipts/{id}', 'public', plans.receipt],
    ['GET', '/account/groups', 'public', groups.list],
    ['POST', '/account/groups', 'public', groups.create],
    ['GET', '/account/groups/{id}', 'public', groups.show],
    ['POST', '/account/groups/{id}', 'public', groups.add],
    ['POST', '/account/groups/{id}/take', 'public', groups.take],
    ['POST', '/account/groups/{id}/rename', 'public', groups.rename],
    ['GET', '/account/groups/{id}/changes', 'public', groups.changes],
    ['GET', '/account/groups/{id}/hostnames.csv', 'public', groups.export],
    ['POST', '/account/groups/{id}/feed', 'public', groups.makeFeed],
    ['POST', '/account/groups/{id}/feed/end', 'public', groups.endFeed],
    ['POST', '/account/groups/{id}/remove', 'public', groups.remove],
    ['GET', '/account/names', 'public', names.list],
    ['POST', '/account/names', 'public', names.begin],
    ['GET', '/account/names/{hostname}', 'public', names.show],
    ['POST', '/account/names/{hostname}/check', 'public', names.check],
    ['POST', '/account/names/{hostname}/look', 'public', names.look],
    ['POST', '/account/names/{hostname}/opt', 'public', names.opt],
    ['POST', '/account/names/{hostname}/give-up', 'public', names.giveUp],
    ['POST', '/account/names/{hostname}/changes/{seq}/note', 'public', names.note],
    ['POST', '/account/names/{hostname}/changes/{seq}/note/remove', 'public', names.removeNote],
    ['GET', '/account/alerts', 'public', alerts.list],
    ['POST', '/account/alerts', 'public', alerts.create],
    ['GET', '/account/alerts/{id}', 'public', alerts.show],
    ['POST', '/account/alerts/{id}/test', 'public', alerts.test],
    ['POST', '/account/alerts/{id}/on', 'public', alerts.switchOn],
    ['POST', '/account/alerts/{id}/pause', 'public', alerts.pause],
    ['POST', '/account/alerts/{id}/secret', 'public', alerts.renewSecret],
    ['POST', '/account/alerts/{id}/deliveries/{delivery}/again', 'public', alerts.sendAgain],
    ['POST', '/account/alerts/{id}/remove', 'public', alerts.remove],
    ['GET', '/account/expectations', 'public', expectations.page],
    ['POST', '/account/expectations', 'public', expectations.put],
    ['POST', '/account/expectations/remove', 'public', expectations.remove],
    ['POST', '/account/expectations/plans', 'public', expectations.plan],
    ['POST', '/account/expectations/plans/{id}/remove', 'public', expectations.cancel],
    ['GET', '/account/exports/changes.csv', 'public', downloads.changes],
    ['GET', '/account/exports/domains.csv', 'public', downloads.catalog],
    ['GET', '/account/exports/services.csv', 'public', downloads.list('services.csv', 'service')],
    ['GET', '/account/exports/issuers.csv', 'public', downloads.list('issuers.csv', 'issuer')],
    ['GET', '/account/exports/mail-hosts.csv', 'public', downloads.list('mail-hosts.csv', 'mailhost')],
    ['GET', '/account/exports/dns-hosts.csv', 'public', downloads.list('dns-hosts.csv', 'nameserver')],
    ['GET', '/account/exports/domains/{file}', 'public', downloads.observations],
    ['GET', '/account/exports/domains/{domain}/evidence.json', 'public', downloads.evidence],
    ['GET', '/account/exports/domains/{domain}/provenance.json', 'public', downloads.provenance],
    ['GET', '/account/data', 'public', data.page],
    ['GET', '/account/export.json', 'public', data.export],
    ['POST', '/account/delete', 'public', data.delete],
    ['GET', '/account/unsubscribe', 'public', unsubscribe.page],
    ['POST', '/account/unsubscribe', 'public', unsubscribe.stop],
  ];
  return routes;
}
