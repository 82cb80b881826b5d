import type { Cast } from '../papers/cast.ts';
import { chaptersOf } from '../papers/cast.ts';
import type { Persona } from '../papers/masthead.ts';
import { NAVS, type Page } from '../papers/page.ts';
import { type Changed, type FormField, inBrief } from './fields.ts';

/** Texts by the names of their fields. */
export type Texts = Record<string, string>;
type Described = readonly Omit<FormField, 'value'>[];

const DAY_FORM = 'A video has a poster; an audio edition may have one.';

/** The fields of a persona. `pictures` are paths for its portrait. */
export const personaFields = (pictures: readonly string[]): Described => [
  { name: 'name', label: 'Name', kind: 'line', isRequired: true, max: 80 },
  {
    name: 'title',
    label: 'Title',
    kind: 'line',
    isRequired: true,
    max: 120,
    hint: 'What it does, as in Tides editor.',
  },
  { name: 'beat', label: 'Beat', kind: 'line', max: 300, hint: 'What it writes about, in a line.' },
  {
    name: 'bio',
    label: 'About',
    kind: 'text',
    max: 2_000,
    hint: 'A few sentences on its page. Every page says that it is a declared AI persona.',
  },
  {
    name: 'avatar',
    label: 'Portrait',
    kind: 'line',
    options: pictures,
    hint: 'A picture among the media; one is drawn where there is none.',
  },
];

export function personaTexts({ name, title, beat, bio, avatar }: Omit<Persona, 'slug' | 'active'>): Texts {
  return { name, title, beat, bio, avatar: avatar ?? '' };
}

/** The fields of one of the paper's own pages. */
export const pageFields = (language: string): Described => [
  { name: 'title', label: 'Title', kind: 'line', isRequired: true, max: 120 },
  { name: 'description', label: 'Description', kind: 'line', max: 300, hint: 'For search engines and cards of links.' },
  {
    name: 'nav',
    label: 'Menu',
    kind: 'choice',
    choices: NAVS.map(
      (nav) => [nav, { footer: 'The footer', sections: 'The bar of sections', none: 'No menu' }[nav]] as const,
    ),
  },
  {
    name: 'order',
    label: 'Order',
    kind: 'number',
    min: 0,
    max: 9_999,
    hint: 'Pages stand in a menu by this number, then by title.',
  },
  {
    name: 'language',
    label: 'Language',
    kind: 'line',
    max: 35,
    hint: `A tag such as de; ${language}, the paper’s, when left out.`,
  },
  {
    name: 'prose',
    label: 'Text',
    kind: 'text',
    isRequired: true,
    rows: 18,
    hint: 'Markdown without HTML. It cites no facts: link to sources instead.',
  },
];

export function pageTexts(page: Page | null): Texts {
  const { title = '', description = '', nav = 'footer', order = 0, language = '', prose = '' } = page ?? {};
  return { title, description, nav, order: String(order), language, prose };
}

/** Paths of the paper's media, by their role in an edition. */
export interface CastMedia {
  video: readonly string[];
  audio: readonly string[];
  poster: readonly string[];
  captions: readonly string[];
}

/** The fields of the edition of a day. */
export const castFields = ({ video, audio, poster, captions }: CastMedia): Described => [
  { name: 'title', label: 'Title', kind: 'line', isRequired: true, max: 200 },
  { name: 'description', label: 'Description', kind: 'text', rows: 3, max: 2_000 },
  {
    name: 'video',
    label: 'Video',
    kind: 'line',
    options: video,
    hint: 'The path of an MP4 file. An edition is a video, or audio alone.',
  },
  { name: 'audio', label: 'Audio', kind: 'line', options: audio, hint: 'The path of an MP3 or M4A file.' },
  { name: 'poster', label: 'Poster', kind: 'line', options: poster, hint: DAY_FORM },
  { name: 'captions', label: 'Captions', kind: 'line', options: captions, hint: 'Of a video, in WebVTT.' },
  { name: 'transcript', label: 'Transcript', kind: 'line', options: captions, hint: 'Of an audio edition, in WebVTT.' },
  {
    name: 'chapters',
    label: 'Chapters',
    kind: 'text',
    rows: 4,
    hint: 'Of an audio edition, one a line, as in 1:05 The tide turns; those of the file when left out.',
  },
];

export function castTexts(cast: Cast | null): Texts {
  const { title = '', description = '', video = '', audio = '', poster = '', captions, transcript = '' } = cast ?? {};
  const chapters = cast === null || cast.audio === undefined ? [] : chaptersOf(cast);
  return {
    ...{ title, description, video, audio, poster, captions: captions ?? '', transcript },
    chapters: chapters.map((chapter) => `${clock(chapter.time)} ${chapter.title}`).join('\n'),
  };
}

/** Seconds as in `1:05` or `1:02:30`. */
function clock(seconds: number): string {
  const whole = Math.floor(seconds);
  const [hours, minutes] = [Math.floor(whole / 3_600), Math.floor(whole / 60) % 60];
  const rest = String(Math.round((seconds % 60) * 1_000) / 1_000);
  const last = rest.replace(/^\d(?!\d)/, '0$&');
  return hours > 0 ? `${hours}:${String(minutes).padStart(2, '0')}:${last}` : `${minutes}:${last}`;
}

/** Parses lines of chapters into the API's form. An invalid line is passed on as typed, so that the API rejects it. */
export const chapterLines = (text: string): { time: string; title: string }[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .map((line) => {
      const [, time = line, title = ''] = /^(\S+)\s(.*)$/su.exec(line) ?? [];
      return { time, title: title.trim() };
    });

export const withValues = (fields: Described, texts: Texts): FormField[] =>
  fields.map((field) => ({ ...field, value: texts[field.name] ?? '' }));

/** The changes that a form makes to a record: the texts that differ, by field name, and the same in words. */
export function changeOf(fields: Described, before: Texts, given: Texts): { texts: Texts; changed: Changed[] } {
  const differing = fields.flatMap(({ name, label }) => {
    const text = given[name]?.replaceAll('\r\n', '\n').trim();
    const was = before[name] ?? '';
    return text === undefined || text === was.trim() ? [] : [{ name, label, was, text }];
  });
  return {
    texts: Object.fromEntries(differing.map(({ name, text }) => [name, text])),
    changed: differing.map(({ label, was, text }) => ({ label, before: inBrief(was), after: inBrief(text) })),
  };
}

/** Converts texts to members of a record. An empty text of an optional member removes it. */
export const membersOf = (texts: Texts, optional: readonly string[]): Record<string, string | null> =>
  Object.fromEntries(
    Object.entries(texts).map(([name, text]) => [name, text === '' && optional.includes(name) ? null : text]),
  );
