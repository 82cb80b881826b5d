import { join } from 'node:path';
import { airStory } from '../../src/desk/airing.ts';
import { fileStory } from '../../src/desk/file-story.ts';
import { pressPapers } from '../../src/desk/jobs/press-run.ts';
import { type AppContext, deskOf } from '../../src/server/context.ts';
import { appContextIn, createPaper, filing, PAPER, type Scope, SECTIONS, tempFolder } from './app-context.ts';

export const START = Date.parse('2026-11-20T12:00:00Z');
export const DAY = 86_400_000;

/** A paper with a number of pieces on air in its first section, one per day, pressed without cards. */
export async function paperOf(t: Scope, pieces: number) {
  const clock = { now: START };
  const folder = tempFolder(t);
  const app = appContextIn(t, folder, clock);
  createPaper(app);
  app.store.database.transact(() => {
    for (let n = 0; n < pieces; n++) publish(app, `piece-${n}`, START - (pieces - n) * DAY);
  });
  await pressPapers(app, { cards: false });
  return { app, folder, clock, tree: join(folder, 'papers', PAPER) };
}

/** Files a piece and puts it on air at a time, in ms. */
export function publish(app: AppContext, slug: string, at: number, section = SECTIONS[0] ?? ''): void {
  const desk = deskOf(app);
  fileStory(desk, PAPER, filing(slug, { category: section }), { by: 'cli' });
  airStory(desk, PAPER, slug, { by: 'cli', at });
}
