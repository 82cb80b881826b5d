import { activityView } from '../../../src/desk/console/activity-words.ts';
import { namesOf, pieceLine } from '../../../src/desk/console/piece-lines.ts';
import type { ActivityLine } from '../../../src/desk/console/views.ts';
import { DAY, HOUR } from '../../../src/proof/time.ts';
import { signingState } from '../../../src/signing/signing-state.ts';
import { factsToRevise } from './facts.ts';
import { type ConsoleParts, readApi, type Shown } from './page.ts';
import { slugOf } from './pieces.ts';
import type { ConsoleContext } from './session.ts';

/** How many pieces each list of the first page shows. */
const SHOWN = 8;

/** The first page: waiting pieces, pieces on air, and problems. */
export async function todayPage(parts: ConsoleParts, c: ConsoleContext): Promise<Shown> {
  const { app } = parts;
  const { console: tables, keys } = app.store.desk;
  const paper = slugOf(c);
  const nameOf = namesOf(keys.list(paper));
  const lines = (rows: ReturnType<typeof tables.scheduled>) => rows.map((row) => pieceLine(row, nameOf));
  const view = {
    waiting: lines(tables.waiting(paper, SHOWN)),
    scheduled: lines(tables.scheduled(paper, SHOWN)),
    aired: lines(tables.pieces(paper, { state: 'on_air' }, { limit: SHOWN })),
    drafts: lines(tables.pieces(paper, { state: 'draft' }, { limit: SHOWN })),
    revise: factsToRevise(app, c, SHOWN),
    wrong: deskProblems(app, paper),
    agents: await agentsDid(parts, c),
  };
  return ['/console/today', 'Today', view];
}

/** The latest actions of agents, and those that the filing door refused; null for seats that may not see them. */
async function agentsDid(parts: ConsoleParts, c: ConsoleContext) {
  if (c.get('key').level !== 'admin') return null;
  const rows = async (query: string) => (await readApi(parts, c, `activity?${query}`)).activity as ActivityLine[];
  const done = (await rows('outcome=done&limit=100')).filter(({ who }) => who.level === 'agent');
  const refused = await rows(`outcome=refused&limit=${SHOWN}`);
  return { done: done.slice(0, SHOWN).map(activityView), refused: refused.map(activityView) };
}

/** How long the witnesses may leave new entries of the log unconfirmed, as in deploy/prometheus/alerts.yml. */
const UNCONFIRMED_MAX = 6 * HOUR;

/** The problems of the desk that need attention, in words. */
export function deskProblems(app: ConsoleParts['app'], paper: string): { text: string; path: string | null }[] {
  const { store, settings, clock } = app;
  const { log } = store.database;
  const unconfirmed = settings.logPolicy === null ? 0 : log.size('desk') - log.cosignedSize('desk');
  const confirmedAt = log.cosignedAt('desk');
  const since = clock.now() - DAY;
  const { signs, message } = signingState(app, 'desk');
  const stale = store.desk.manifest.newestStale(paper);
  const mails = store.desk.console.failedMails(paper, since);
  const deliveries = store.desk.console.failedDeliveries(paper, since);
  const off = store.desk.webhooks.offSince(paper, 0).filter(({ of_subscriber }) => !of_subscriber);
  const found: [isWrong: boolean, text: string, path: string | null][] = [
    [!signs, `Nothing is signed here: ${message}.`, null],
    [
      unconfirmed > 0 && confirmedAt !== null && clock.now() - confirmedAt > UNCONFIRMED_MAX,
      `The witnesses have not confirmed the last ${unconfirmed} entries of the log for more than six hours.`,
      null,
    ],
    [stale > 0, 'Pages are being written; if this stays, the server’s log says why.', null],
    [mails > 0, `${mails} ${mails === 1 ? 'mail was' : 'mails were'} given up in the last 24 hours.`, 'readers'],
    [
      deliveries > 0,
      `${deliveries} ${deliveries === 1 ? 'delivery was' : 'deliveries were'} given up in the last 24 hours.`,
      'webhooks',
    ],
    [off.length > 0, `${off.length} ${off.length === 1 ? 'webhook is' : 'webhooks are'} switched off.`, 'webhooks'],
  ];
  return found.filter(([isWrong]) => isWrong).map(([, text, path]) => ({ text, path }));
}
