import { randomBytes } from 'node:crypto';
import type { AppContext } from '../../server/context.ts';
import { CLI } from '../../shared/command-line.ts';
import { Fault } from '../../shared/fault.ts';
import { newId } from '../../shared/new-id.ts';
import { recordCommand } from '../papers/record-command.ts';
import { requirePaper } from '../papers/require-paper.ts';
import { consoleUrl } from './console-url.ts';
import { printedLink } from './link.ts';
import { type ConsoleSession, sessionChange, sessionRow } from './session.ts';

// An operator's commands for signing in, and what a starting server prints about it.

/** Maximum number of papers for which a starting server prints a link. */
const FIRST_LINKS_MAX = 3;

/** Links to the first seat of papers that never had one, and how many more such papers there are. */
export function firstSeatLinks(app: AppContext): { links: { paper: string; url: string }[]; more: number } {
  const { desk } = app.store;
  const unseated = desk.paperSlugs().filter((paper) => !desk.keys.everSeated(paper));
  const links = unseated.slice(0, FIRST_LINKS_MAX).map((paper) => ({ paper, url: linkTo(app, paper, null).url }));
  return { links, more: unseated.length - links.length };
}

/**
 * A link that signs in once with a person's seat; without an address, a link to the first seat of a paper that never
 * had one. Throws `not_found`, `invalid_request`.
 */
export function operatorLink(app: AppContext, paper: string, email: string | undefined) {
  requirePaper(app, paper);
  const { keys } = app.store.desk;
  const list = `\`${CLI} seat list --paper ${paper}\` lists the seats`;
  if (email === undefined) {
    if (!keys.everSeated(paper)) return { seat: null, ...linkTo(app, paper, null) };
    throw new Fault('invalid_request', `${paper} has had a seat; say whose link it is with --email, ${list}`);
  }
  const seat = keys.seat(paper, email.toLowerCase());
  if (seat === null) throw new Fault('not_found', `${email} has no seat on ${paper}; ${list}`);
  return { seat: seat.seat, ...linkTo(app, paper, seat.id) };
}

function linkTo(app: AppContext, paper: string, key: string | null): { url: string; expires_at: number } {
  const { store, clock, settings } = app;
  const tables = { consoleLinks: store.desk.consoleLinks, transact: store.database.transact };
  const { token, expires_at } = printedLink(tables, paper, key, { now: clock.now(), newId, random: randomBytes });
  const record = store.desk.paper(paper);
  if (record === null) throw new TypeError(`there is no paper ${paper}`);
  const console = consoleUrl(record, { origin: settings.origin, hosts: store.desk.hosts });
  return { url: `${console}${key === null ? 'first' : 'enter'}?token=${token}`, expires_at };
}

/** The sessions of a paper's console, newest first. Throws `not_found`. */
export function listSessions(app: AppContext, paper: string) {
  requirePaper(app, paper);
  const { consoleSessions, keys } = app.store.desk;
  const known = keys.list(paper);
  return consoleSessions.list(paper, app.clock.now()).map((session) => sessionRow(session, known));
}

/** Ends a session of a paper's console, or all of them if `id` is null. Returns how many. Throws `not_found`. */
export function endSessions(app: AppContext, paper: string, id: string | null): number {
  requirePaper(app, paper);
  const { consoleSessions } = app.store.desk;
  return app.store.database.transact(() => {
    const listed = consoleSessions.list(paper, app.clock.now());
    const ended: ConsoleSession[] = id === null ? listed : listed.filter((session) => session.id === id);
    if (id !== null && ended.length === 0) {
      const message = `${paper} has no session ${JSON.stringify(id)}; \`${CLI} session list --paper ${paper}\` lists them`;
      throw new Fault('not_found', message);
    }
    for (const session of ended) consoleSessions.end(session.id);
    recordCommand(app, paper, ...ended.map((session) => sessionChange('ended', session)));
    return ended.length;
  });
}
