import { Cron } from 'croner';
import { DAY, isoTime } from '../../proof/time.ts';
import type { AppContext } from '../../server/context.ts';
import { linkToken, secretHash } from '../../shared/access-key.ts';
import { CLI } from '../../shared/command-line.ts';
import { linkKey } from '../../shared/files/data-folder.ts';
import { newId } from '../../shared/new-id.ts';
import { type Letter, mailOf, type RenderMail, SharedLetters } from '../../shared/outbound/letter.ts';
import type { MailService } from '../../shared/outbound/mail-job.ts';
import type { MailSource } from '../../shared/outbound/mail-sender.ts';
import { type ConsoleMail, mailedToken, signInMail } from '../console/link.ts';
import { contactMail, type Paper } from '../papers/paper.ts';
import {
  type AlertHour,
  DEFAULT_HOUR,
  type DigestCadence,
  type DigestTimes,
  digestQueue,
  queueAlerts,
} from '../readers/alert.ts';
import { end, manageToken } from '../readers/link.ts';
import type { MailRecord } from '../readers/mail.ts';
import { mailColors } from '../readers/mail-colors.ts';
import { NOTICE_GATHERS, type NoticeRecord, noticeMail, noticeRecipients } from '../readers/notice.ts';
import { alertMail, confirmMail, fromPaper, mailRoot, type PaperLetter } from '../readers/paper-letter.ts';
import { deleteExpired } from '../readers/subscribe.ts';
import { CONFIRM_LIFETIME } from '../readers/token.ts';

/** Retention of settled mails, in ms. */
const MAILS_KEPT = 35 * DAY;

/** The mails of the papers: to their readers, and notices to the people who run them. */
export function paperMails(app: AppContext, render: RenderMail): MailService {
  const { store } = app;
  const queueDigests = paperDigests(app);
  return {
    job: 'mails',
    sources: [
      { source: readerMails(app, render), onBounce: 'the address does not accept mail; the subscription has ended' },
      {
        source: consoleMails(app, render),
        onBounce: `the address of a seat does not accept mail; print a link for it with \`${CLI} seat link\``,
      },
      { source: noticeMails(app, render), onBounce: 'the address does not accept mail; check whose seat it is' },
    ],
    queueNext: () => queueAlerts(store.desk, { now: app.clock.now, newId }) || queueDigests(),
    cleanUp(at) {
      store.desk.alerts.forget(at - MAILS_KEPT);
      store.desk.notices.forget(at - MAILS_KEPT);
      store.database.transact(() => deleteExpired(store.desk.readers, at));
      store.desk.consoleSessions.forget(at);
      store.desk.consoleLinks.forget(at);
      store.desk.challenges.forget(at);
    },
  };
}

/** The digest queue of all papers. */
export function paperDigests({ store, clock: { now } }: AppContext): () => boolean {
  const papers = () =>
    store.desk.paperSlugs().map((slug) => ({ slug, ...(store.desk.paper(slug)?.alerts ?? DEFAULT_HOUR) }));
  return digestQueue(store.desk, { papers, times: digestTimes(), now, newId });
}

/** Mails to readers: confirmation requests, alerts and digests. */
export function readerMails(app: AppContext, render: RenderMail): MailSource<MailRecord> {
  const { store, settings, clock } = app;
  const { subscribers, suppressions, tokens, mails } = store.desk.readers;
  const secret = linkKey(settings, 'readers');
  const shared = new SharedLetters(render);
  return {
    queue: mails,
    async compose(mail) {
      const row = subscribers.byId(mail.subscriber);
      const paper = store.desk.paper(mail.paper);
      if (row === null || paper === null) return null;
      const root = mailRoot(paper, settings.origin);
      if (mail.kind === 'confirm') {
        const token = linkToken(secret, 'confirm', mail.id);
        // Store the token's hash before the mail goes out.
        tokens.keep({
          hash: secretHash(token),
          paper: mail.paper,
          reader: row.reader,
          purpose: 'confirm',
          expires_at: clock.now() + CONFIRM_LIFETIME,
          used_at: null,
        });
        const letter = letterOf(
          app,
          paper,
          confirmMail(row, paper, store.desk.archive(paper.slug).casts(), root, token),
        );
        return mailOf(mail, row.email, letter, await render(letter.content));
      }
      if (row.confirmed_at === null || suppressions.of(row.paper, row.reader) !== null) return null;
      const { kind, about } = mail;
      const events = store.desk.alerts.eventsOf(mail.id);
      return shared.copyFor(mail, row.email, {
        key: [mail.paper, paper.edition, kind, about, ...events].join(' '),
        token: () => manageToken(tokens, secret, row.paper, row.reader),
        write(token) {
          const subject = { kind, about, events: store.desk.alerts.eventsAt(events) };
          const alert = alertMail(store.desk.archive(paper.slug), paper, root, subject, token);
          return alert === null ? null : letterOf(app, paper, alert);
        },
      });
    },
    sent({ kind, subscriber }) {
      if (kind !== 'confirm') subscribers.markMailed(subscriber, clock.now());
    },
    bounced: ({ subscriber }) =>
      store.database.transact(() => {
        const row = subscribers.byId(subscriber);
        if (row !== null) end(store.desk.readers, row, 'bounced', clock.now());
      }),
  };
}

/** Notices of webhooks that were switched off. */
export function noticeMails(app: AppContext, render: RenderMail): MailSource<NoticeRecord> {
  const { store, settings, clock } = app;
  return {
    queue: store.desk.notices,
    async compose(notice) {
      const paper = store.desk.paper(notice.paper);
      const off = store.desk.webhooks.offSince(notice.paper, notice.since);
      // All of them were switched on again or removed.
      if (paper === null || off.length === 0) return null;
      const letter = letterOf(app, paper, noticeMail(off, paper.nameplate, mailRoot(paper, settings.origin)));
      return mailOf(notice, notice.email, letter, await render(letter.content));
    },
    bounced: ({ id }) => store.desk.notices.fail(id, clock.now(), 'bounced'),
  };
}

/** Links that sign in to a console. Links that no longer work are not sent. */
export function consoleMails(app: AppContext, render: RenderMail): MailSource<ConsoleMail> {
  const { store, settings, clock } = app;
  const { keys, consoleLinks, consoleMails: queue } = store.desk;
  const secret = linkKey(settings, 'readers');
  return {
    queue,
    async compose(mail) {
      const link = consoleLinks.byId(mail.id);
      const seat = link?.key == null ? null : keys.byId(link.key);
      const paper = store.desk.paper(mail.paper);
      if (link === null || link.used_at !== null || link.expires_at <= clock.now()) return null;
      if (paper === null || seat === null || seat.seat === null || seat.revoked_at !== null) return null;
      const url = `${mailRoot(paper, settings.origin)}/console/enter?token=${mailedToken(secret, mail.id)}`;
      const letter = letterOf(app, paper, signInMail(paper.nameplate, url));
      return mailOf(mail, seat.seat, letter, await render(letter.content));
    },
    bounced: ({ id }) => queue.fail(id, clock.now(), 'bounced'),
  };
}

/** Queues the notice that a webhook of a paper was switched off at a time (ms). Runs in the caller's transaction. */
export function queueNotices({ store }: AppContext, paper: string, at: number): void {
  const keys = store.desk.keys.list(paper).filter((key) => !store.desk.keys.hasExpired(key, at));
  for (const email of noticeRecipients(keys, contactMail(store.desk.paper(paper) ?? {}))) {
    store.desk.notices.queue({ id: newId(), paper, email, since: at, due_at: at + NOTICE_GATHERS });
  }
}

function letterOf({ settings }: AppContext, paper: Paper, letter: PaperLetter): Letter {
  return fromPaper(paper, settings.origin, mailColors(paper.hue), letter);
}

/** The day on which weekly digests go out. */
const WEEKLY_ON = 'MON';

/**
 * Digest times in a paper's time zone. When clocks change, an hour that is skipped counts at its usual time, and an
 * hour that occurs twice counts once.
 */
export function digestTimes(): DigestTimes {
  const crons = new Map<string, Cron>();
  const cronOf = (cadence: DigestCadence, { hour, time_zone }: AlertHour): Cron => {
    const pattern = `0 0 ${hour} * * ${cadence === 'weekly' ? WEEKLY_ON : '*'}`;
    const key = `${pattern} ${time_zone}`;
    const cron = crons.get(key) ?? new Cron(pattern, { timezone: time_zone, paused: true });
    crons.set(key, cron);
    return cron;
  };
  return {
    next(cadence, hour, after) {
      const next = cronOf(cadence, hour).nextRun(new Date(after));
      if (next === null) throw new Error(`no ${cadence} digest comes after ${isoTime(after)}`);
      return next.getTime();
    },
    last(cadence, hour, until) {
      // A run exactly at `until` counts, so the search starts 1 ms later.
      const [last] = cronOf(cadence, hour).previousRuns(1, new Date(until + 1));
      if (last === undefined) throw new Error(`no ${cadence} digest came before ${isoTime(until)}`);
      const day = new Intl.DateTimeFormat('en-CA', { timeZone: hour.time_zone, dateStyle: 'short' }).format(last);
      return { at: last.getTime(), day };
    },
  };
}
