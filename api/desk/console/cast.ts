import { castLine } from '../../../src/desk/console/media-lines.ts';
import {
  type CastMedia,
  castFields,
  castTexts,
  changeOf,
  chapterLines,
  membersOf,
  type Texts,
  withValues,
} from '../../../src/desk/console/record-forms.ts';
import type { Cast } from '../../../src/desk/papers/cast.ts';
import { dayOf, isDay } from '../../../src/proof/time.ts';
import type { Form } from '../../middleware/form-body.ts';
import { notFound } from '../../middleware/key.ts';
import { archiveOf } from '../context.ts';
import { type Action, undo } from './action.ts';
import type { ConsoleParts, Shown } from './page.ts';
import { slugOf } from './pieces.ts';
import type { ConsoleContext } from './session.ts';
import { fileOf, membersIn } from './settings.ts';

/** How many paths a field suggests. */
const SUGGESTED = 200;
const NONE: CastMedia = { video: [], audio: [], poster: [], captions: [] };
/** The members that an edition may lack. */
const OPTIONAL = ['video', 'audio', 'poster', 'captions', 'transcript', 'chapters'];

/** The editions, newest first. With `day`, the page of that day's edition, which need not exist yet. */
export function castPage(parts: ConsoleParts, c: ConsoleContext): Shown {
  const day = c.req.query('day') ?? '';
  if (isDay(day)) return editionOf(parts, c, day);
  const { root } = c.get('site');
  const editions = archiveOf(parts.app, c)
    .casts()
    .map((cast) => castLine(cast, root));
  return ['/console/cast', 'Cast', { editions, today: dayOf(parts.app.clock.now()) }];
}

/** The edition of a day. */
export function editionPage(parts: ConsoleParts, c: ConsoleContext): Shown {
  const day = c.req.param('day') ?? '';
  if (!isDay(day)) throw notFound();
  return editionOf(parts, c, day);
}

function editionOf({ app }: ConsoleParts, c: ConsoleContext, day: string): Shown {
  const cast = archiveOf(app, c).cast(day);
  const all = c.get('key').level === 'admin' ? app.store.desk.allMedia(slugOf(c)) : [];
  const paths = (type: string) =>
    all.flatMap(({ path, media_type }) => (media_type.startsWith(type) ? [path] : [])).slice(0, SUGGESTED);
  const media = {
    video: paths('video/'),
    audio: paths('audio/'),
    poster: paths('image/'),
    captions: paths('text/vtt'),
  };
  const texts = { ...castTexts(cast), ...uploadedIn(c) };
  const view = {
    day,
    edition: cast && castLine(cast, c.get('site').root),
    fields: withValues(castFields(media), texts),
    file: fileOf(app, c, `cast/${day}.yaml`),
  };
  return ['/console/edition', cast === null ? `A new edition: ${day}` : `Edition of ${day}`, view];
}

/** The field that a file which was just uploaded belongs to. */
function uploadedIn(c: ConsoleContext): Texts {
  const path = (c.req.query('uploaded') ?? '').slice(0, 1_000);
  if (/\.mp4$/i.test(path)) return { video: path };
  if (/\.(?:mp3|m4a)$/i.test(path)) return { audio: path };
  if (/\.(?:jpe?g|png|webp|avif)$/i.test(path)) return { poster: path };
  return {};
}

const put = (c: ConsoleContext, body: unknown) =>
  ({ method: 'PUT', path: `cast/${encodeURIComponent(c.req.param('day') ?? '')}`, body }) as const;

/** Texts as members of an edition. */
function memberTexts(texts: Texts): Record<string, unknown> {
  const { chapters, ...rest } = membersOf(texts, OPTIONAL);
  return { ...rest, ...(chapters === undefined ? {} : { chapters: chapters && chapterLines(chapters) }) };
}

/** What can be done to editions. */
export function castActions({ app }: ConsoleParts): Record<string, Action> {
  const before = (c: ConsoleContext): Cast | null => archiveOf(app, c).cast(c.req.param('day') ?? '');
  const changeIn = (form: Form, cast: Cast | null) => changeOf(castFields(NONE), castTexts(cast), form.given());
  return {
    ':day/save': {
      level: 'admin',
      before,
      request: (form, c) => put(c, memberTexts(changeIn(form, before(c)).texts)),
      said: ({ day, pressed }, form, cast: Cast | null) => {
        const { changed } = changeIn(form, cast);
        const written = pressed ? '' : '; the pages are being written';
        if (cast === null) return { text: `The edition of ${day} is published${written}.` };
        return {
          text: `Saved${written}.`,
          changed,
          ...undo(`cast/${day}/restore`, 'Set it back', { members: JSON.stringify(castTexts(cast)) }),
        };
      },
      page: (_form, c) => `cast/${c.req.param('day')}`,
    } satisfies Action<Cast | null>,
    ':day/restore': {
      level: 'admin',
      before,
      request: (form, c) => put(c, memberTexts(membersIn(form.text('members')) as Texts)),
      said: ({ day }, _form, cast: Cast | null) => ({
        text: 'Set back.',
        ...undo(`cast/${day}/restore`, 'Set it again', { members: JSON.stringify(castTexts(cast)) }),
      }),
      page: (_form, c) => `cast/${c.req.param('day')}`,
    } satisfies Action<Cast | null>,
  };
}
