import type { Context } from 'hono';
import type { Logger } from 'pino';
import { answerFault } from '../../middleware/fault.ts';
import type { RecordsContext, RecordsDoors } from '../route.ts';
import { frameOf } from './frame.ts';
import { sendPage, wantsPage } from './page.ts';

/** Where programs ask, whatever they say that they accept. */
const NO_PAGES = /^\/(?:v1|mcp|\.well-known|badge|_astro)(?:\/|$)|^\/health$|\.(?:json|rss|svg|txt)$/;

/** What a page is headed with, by its status. */
const HEADINGS: Record<number, string> = {
  400: 'This was not understood',
  401: 'This takes a sign-in',
  402: 'This takes an account or a payment',
  403: 'This is not open to you',
  404: 'Nothing here',
  405: 'Not this way',
  429: 'Too many requests',
  500: 'Something went wrong here',
  503: 'Not just now',
};

const WAYS = [
  { url: '/', text: 'What this service watches' },
  { url: '/search', text: 'Search' },
  { url: '/changes/today', text: 'Changes today' },
  { url: '/account', text: 'Account' },
  { url: '/docs', text: 'Docs' },
];

/**
 * What is refused, as a page where a browser asks for one, and else as JSON. The
 * page says the same words, and the status and headers are the same.
 */
export function answerFaults(doors: Pick<RecordsDoors, 'app' | 'build'>, logger: Logger) {
  const asJson = answerFault(logger, doors.app.store.fault);
  return async (thrown: unknown, context: Context): Promise<Response> => {
    const answer = asJson(thrown, context);
    const c = context as RecordsContext;
    if (NO_PAGES.test(c.req.path) || !wantsPage(c) || answer.body === null) return answer;
    const { error: code, message } = (await answer.clone().json()) as { error: string; message: string };
    const heading = code === 'not_watched' ? 'Not watched' : (HEADINGS[answer.status] ?? 'This was refused');
    const frame = frameOf(doors.app, c, { title: heading, description: message, path: c.req.path, noindex: true });
    const view = { frame, heading, message: prose(code, message), ways: WAYS };
    try {
      return await sendPage(doors, c, '/records/fault', view, { status: answer.status as 400 });
    } catch (error) {
      logger.error({ request_id: c.get('requestId'), err: error }, 'the page of a refusal could not be printed');
      return answer;
    }
  };
}

/** A fault's message as prose. What names an API's door is of no use on a page: there are links below. */
function prose(code: string, message: string): string {
  if (code === 'not_watched') {
    return `${message.split(';')[0]}. Search finds the names that are, and with an account you may watch your own.`;
  }
  // A hostname or a field keeps its spelling.
  const text = /^[a-z]+ /.test(message) ? message.charAt(0).toUpperCase() + message.slice(1) : message;
  return /[.!?]$/.test(text) ? text : `${text}.`;
}
