import { airStory, withdrawStory } from '../../src/desk/airing.ts';
import { append } from '../../src/desk/append.ts';
import type { Filing } from '../../src/desk/door/piece.ts';
import { fileStory } from '../../src/desk/file-story.ts';
import { paperDigests } from '../../src/desk/jobs/paper-mails.ts';
import { queueAlerts } from '../../src/desk/readers/alert.ts';
import { type AppContext, deskOf } from '../../src/server/context.ts';
import { newId } from '../../src/shared/new-id.ts';
import type { Mail, Mailer } from '../../src/shared/outbound/mail.ts';
import { filing, PAPER } from './app-context.ts';

/** Files a piece and puts it on air. Returns its id. */
export function publish(app: AppContext, slug: string, more: Partial<Filing> = {}, paper = PAPER): string {
  const desk = deskOf(app);
  fileStory(desk, paper, filing(slug, more), { by: 'test' });
  return airStory(desk, paper, slug, { by: 'test' }).story.id;
}

export function revise(app: AppContext, slug: string, more: Partial<Filing>): void {
  const desk = deskOf(app);
  fileStory(desk, PAPER, filing(slug, more), { by: 'test' });
}

export function withdraw(app: AppContext, slug: string): void {
  const desk = deskOf(app);
  withdrawStory(desk, PAPER, slug, { by: 'test', reason: 'It was wrong.' });
}

export function airAgain(app: AppContext, slug: string): void {
  const desk = deskOf(app);
  airStory(desk, PAPER, slug, { by: 'test' });
}

const VIDEO = { video: 'media/a.mp4', poster: 'media/a.jpg', media_type: 'video/mp4' };
export const AUDIO = { audio: 'media/a.mp3', media_type: 'audio/mpeg' };

/** Publishes the edition of a day. */
export function publishCast(
  { store, clock: { now } }: AppContext,
  day: string,
  title = `The edition of ${day}`,
  file: typeof VIDEO | typeof AUDIO = VIDEO,
): void {
  const body = { title, description: '', captions: null, duration_s: 42, bytes: 1_000, ...file };
  store.database.transact(() =>
    append(store.desk, { type: 'record', at: now(), paper: PAPER, kind: 'cast', name: day, body }),
  );
}

/** Queues every alert and digest that is due at the current time. */
export function queueAll(app: AppContext): void {
  while (queueAlerts(app.store.desk, { now: app.clock.now, newId }));
  const queueDigests = paperDigests(app);
  while (queueDigests());
}

/** A mailer that collects its mails. */
export function collector(): Mailer & { mails: Mail[] } {
  const mails: Mail[] = [];
  return { mails, send: async (mail) => void mails.push(mail) };
}
