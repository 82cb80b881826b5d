import { join } from 'node:path';
import { test } from 'node:test';
import sharp from 'sharp';
import { airStory, withdrawStory } from '../../src/desk/airing.ts';
import { append } from '../../src/desk/append.ts';
import type { Filing } from '../../src/desk/door/piece.ts';
import { tagsFrom } from '../../src/desk/door/tag.ts';
import { fileStory } from '../../src/desk/file-story.ts';
import { pressPapers } from '../../src/desk/jobs/press-run.ts';
import { NAVS, PageBody } from '../../src/desk/papers/page.ts';
import { inspectMedia } from '../../src/media/inspect.ts';
import { type AppContext, deskOf } from '../../src/server/context.ts';
import { Fault } from '../../src/shared/fault.ts';
import {
  appContextIn,
  type Clock,
  createPaper,
  filing,
  PAPER,
  PERSONAS,
  SECTIONS,
  tempFolder,
  treeOf,
} from '../support/app-context.ts';
import { cosignAll } from '../support/cosign-all.ts';
import { assertSameTree, fullPress } from '../support/full-press.ts';
import * as fc from '../support/properties.ts';
import { ONLY_WIDE } from '../support/wide.ts';

const START = Date.parse('2026-11-20T12:00:00Z');
const HOUR = 3_600_000;

/** A portrait that a persona may be given. */
const PICTURE_SVG = Buffer.from(
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9"><rect width="9" height="9"/></svg>',
);
const PICTURE = await inspectMedia('media/p.svg', PICTURE_SVG);
/** Photographs that replace one another under two names, equal ones among them. */
const PHOTOGRAPHS = await Promise.all(
  ['#48c', '#c84'].map((background) =>
    sharp({ create: { width: 180, height: 90, channels: 3, background } })
      .jpeg()
      .toBuffer(),
  ),
);
const PROBED = await Promise.all(PHOTOGRAPHS.map((bytes) => inspectMedia('media/q.jpg', bytes)));
const PHOTOGRAPH_PATHS = ['media/q.jpg', 'media/r.jpg'];

/** What a piece says about itself, beside its text. */
interface About {
  tags: string[];
  authors: Filing['authors'];
}

/** What a desk may do; numbers choose among the pieces, sections and times there are. */
type Step =
  | { do: 'file'; piece: number; section: number; persona: number; words: string; corrects: boolean; about: About }
  | { do: 'air'; piece: number; hours: number }
  | { do: 'withdraw'; piece: number; withholds: boolean }
  | { do: 'wait'; hours: number }
  | { do: 'hue'; hue: number }
  | { do: 'sections'; keep: number }
  | { do: 'persona'; persona: number; title: string; name: string; hasPicture: boolean }
  | { do: 'page'; page: number; title: string; nav: (typeof NAVS)[number] | null }
  | { do: 'media' }
  | { do: 'photograph'; name: number; shows: number }
  | { do: 'cosign' }
  | { do: 'crash'; after: number };

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('file' as const),
      piece: fc.nat(5),
      section: fc.nat(2),
      persona: fc.nat(1),
      words: fc.constantFrom('tide', 'quay', 'крила', '潮'),
      corrects: fc.boolean(),
      about: fc.record({
        tags: fc.subarray(['Tides', 'tides!', 'C++', '潮'], { maxLength: 3 }).map(tagsFrom),
        authors: fc.subarray([{ name: 'Ann Lee', url: 'https://ann.example/' }, { name: 'Bo Ray' }]),
      }),
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('air' as const),
      piece: fc.nat(5),
      hours: fc.integer({ min: -80, max: 30 }),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant('withdraw' as const), piece: fc.nat(5), withholds: fc.boolean() }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('wait' as const), hours: fc.integer({ min: 1, max: 40 }) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('hue' as const), hue: fc.nat(359) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('sections' as const), keep: fc.integer({ min: 1, max: 3 }) }) },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('persona' as const),
      persona: fc.nat(1),
      title: fc.constantFrom('Editor', 'Harbour editor'),
      name: fc.constantFrom('Ines Calloway', 'Tomás Berg'),
      hasPicture: fc.boolean(),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('page' as const),
      page: fc.nat(1),
      title: fc.constantFrom('About us', 'Impressum'),
      // Null removes the page.
      nav: fc.option(fc.constantFrom(...NAVS)),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant('photograph' as const), name: fc.nat(1), shows: fc.nat(1) }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('cosign' as const) }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('crash' as const), after: fc.nat(30) }) },
);

function take(app: AppContext, clock: Clock, action: Step): void {
  const { store } = app;
  const desk = deskOf(app);
  const slug = (piece: number) => `piece-${piece}`;
  const record = (kind: 'paper' | 'persona' | 'media' | 'page', name: string, body: unknown) =>
    store.database.transact(() =>
      append(store.desk, { type: 'record', at: clock.now, paper: PAPER, kind, name, body }),
    );
  const change = (more: object) =>
    record('paper', '', { ...(store.desk.record(PAPER, 'paper', '') as object), ...more });
  try {
    if (action.do === 'file') {
      const { sections } = store.desk.archive(PAPER).paper();
      fileStory(
        desk,
        PAPER,
        filing(slug(action.piece), {
          headline: `A headline about ${action.words}`,
          category: sections[action.section % sections.length] ?? '',
          persona: PERSONAS[action.persona] ?? '',
          ...action.about,
          correction: action.corrects ? 'It said otherwise.' : null,
          image: store.desk.archive(PAPER).media('media/q.jpg') && { src: 'media/q.jpg', alt: 'A quay', credit: null },
        }),
        { by: 'cli' },
      );
    }
    if (action.do === 'air')
      airStory(desk, PAPER, slug(action.piece), { by: 'cli', at: clock.now + action.hours * HOUR });
    if (action.do === 'withdraw')
      withdrawStory(desk, PAPER, slug(action.piece), {
        by: 'cli',
        reason: 'It was wrong.',
        withholdHeadline: action.withholds,
      });
    if (action.do === 'cosign') cosignAll(app);
    if (action.do === 'media') record('media', PICTURE.path, PICTURE);
    if (action.do === 'photograph') {
      const path = PHOTOGRAPH_PATHS[action.name] ?? '';
      record('media', path, { ...PROBED[action.shows], path });
    }
    if (action.do === 'wait') clock.now += action.hours * HOUR;
    if (action.do === 'hue') change({ hue: action.hue });
    if (action.do === 'sections') change({ sections: SECTIONS.slice(0, action.keep) });
    if (action.do === 'page') {
      const { title, nav } = action;
      const body = nav === null ? null : PageBody.parse({ title, nav, prose: 'Two people write this.' });
      record('page', `page-${action.page}`, body);
    }
    if (action.do === 'persona') {
      const slug = PERSONAS[action.persona] ?? '';
      const { title, name, hasPicture } = action;
      const avatar = hasPicture ? PICTURE.path : null;
      record('persona', slug, { ...(store.desk.record(PAPER, 'persona', slug) as object), title, name, avatar });
    }
  } catch (error) {
    // A desk may ask for what cannot be: the refusal must change nothing, which the trees then show.
    if (!(error instanceof Fault)) throw error;
  }
}

test('a sequence of publishes leaves the tree of a full press, byte for byte, crashes and all', async (t) => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 14 }), async (steps) => {
      const ends: (() => void)[] = [];
      const scope = { after: (work: () => void) => void ends.unshift(work) };
      try {
        const clock = { now: START };
        const folder = tempFolder(scope);
        const app = appContextIn(scope, folder, clock);
        createPaper(app);
        app.store.media.keepBytes(PICTURE.digest, PICTURE_SVG);
        for (const [n, bytes] of PHOTOGRAPHS.entries()) app.store.media.keepBytes(PROBED[n]?.digest ?? '', bytes);
        take(app, clock, { do: 'media' });
        // A shelf to begin with: one section, an hour between the pieces.
        for (const piece of [0, 1, 2, 3]) {
          const about = { tags: ['Tides'], authors: [] };
          take(app, clock, { do: 'file', piece, section: 0, persona: 0, words: 'tide', corrects: false, about });
          if (piece > 0) take(app, clock, { do: 'air', piece, hours: -2 * piece });
        }
        await pressPapers(app, { cards: false });
        for (const action of steps) {
          clock.now += 1_000;
          take(app, clock, action);
          if (action.do === 'crash') {
            let sheets = 0;
            const crash = () => {
              if (sheets++ >= action.after) throw new Error('the power went');
            };
            take(app, clock, { do: 'air', piece: action.after % 6, hours: -(action.after % 7) });
            await pressPapers(app, { cards: false, progress: crash }).catch(() => undefined);
          } else if (action.do !== 'wait') {
            await pressPapers(app, { cards: false });
          }
        }
        app.store.desk.manifest.markStale(PAPER, ['news']);
        await pressPapers(app, { cards: false });
        assertSameTree(treeOf(join(folder, 'papers', PAPER)), await fullPress(scope, folder, clock, false));
      } finally {
        for (const end of ends) end();
      }
    }),
    // It presses whole trees: a push does so a few times.
    { numRuns: Number(process.env.PRESS_RUNS ?? (ONLY_WIDE === false ? 12 : 4)) },
  );
  t.diagnostic('publishes and full presses agree');
});
