import type { Context } from 'hono';
import type { Logger } from 'pino';
import type { AppContext } from '../../../src/server/context.ts';
import { explainFault, sendFault } from '../../middleware/fault.ts';
import type { RecordsContext } from '../route.ts';
import { type PageSender, wantsPage } from './page.ts';

/** Addresses for programs, whatever they accept. */
const NO_PAGES = /^\/(?:v1|mcp|\.well-known|badge|_astro)(?:\/|$)|^\/(?:health|ready)$|\.(?:json|rss|svg|txt|md|xml)$/;

const HEADINGS: Record<number, string> = {
  400: 'Invalid request',
  401: 'Sign-in required',
  402: 'Account or payment required',
  403: 'Access denied',
  404: 'Not found',
  405: 'Method not allowed',
  429: 'Too many requests',
  500: 'Something went wrong',
  503: 'Temporarily unavailable',
};

const WAYS = [
  { url: '/domains', text: 'Catalog', about: 'every hostname under watch' },
  { url: '/changes/today', text: 'Changes today', about: 'what was added, removed and changed' },
  { url: '/search', text: 'Search', about: 'hostnames, addresses, services and certificate issuers' },
  { url: '/account', text: 'Account', about: 'keys, alerts, and hostnames of your own' },
  { url: '/docs', text: 'Docs', about: 'the API, with examples to copy' },
];

/** Answers a fault as a page where a browser wants one, otherwise as JSON. */
export function answerFaults(app: AppContext, pages: PageSender, logger: Logger) {
  return async (thrown: unknown, context: Context): Promise<Response> => {
    const fault = explainFault(thrown, context, { logger, known: app.store.database.fault });
    const c = context as RecordsContext;
    if (fault === null || NO_PAGES.test(c.req.path) || !wantsPage(c)) return sendFault(context, fault);
    const { status } = fault;
    const { error: code, message } = fault.body;
    const heading = code === 'not_watched' ? 'Not watched' : (HEADINGS[status] ?? 'This request was rejected');
    const frame = pages.frame(c, { title: heading, description: message, path: c.req.path, noindex: true });
    const asked = code === 'not_watched' ? (/^\S+/.exec(message)?.[0] ?? null) : null;
    const view = { frame, status, heading, message: prose(code, message), asked, ways: WAYS };
    try {
      return await pages.send(c, '/records/fault', view, { status });
    } catch (error) {
      logger.error({ request_id: c.get('requestId'), err: error }, 'the page of a fault could not be rendered');
      return sendFault(context, fault);
    }
  };
}

/** A fault's message as prose, without the names of API routes: the page has links. */
function prose(code: string, message: string): string {
  if (code === 'not_watched') {
    return `${message.split(';')[0]}. Search finds watched hostnames, and with an account you can watch your own.`;
  }
  // Only words are capitalized, not hostnames or fields.
  const text = /^[a-z]+ /.test(message) ? message.charAt(0).toUpperCase() + message.slice(1) : message;
  return /[.!?]$/.test(text) ? text : `${text}.`;
}
