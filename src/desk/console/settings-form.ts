import { KINDS, SOURCE_FLOOR_MIN } from '../door/piece.ts';
import type { PaperBody } from '../papers/paper.ts';
import { DEFAULT_THEME, THEMES } from '../papers/themes.ts';
import { DEFAULT_TYPEFACES, TYPEFACE_NAMES } from '../papers/typefaces.ts';
import { type Changed, type FormField, inBrief } from './fields.ts';
import { ZONES } from './zoned-time.ts';

/** How the form shows a member of a paper's record: converts between the member and the texts of its fields. */
interface Member {
  group: 'Name' | 'Look' | 'Rules' | 'Readers' | 'Address and law';
  fields: (media: MediaChoices) => readonly Omit<FormField, 'value'>[];
  texts(paper: PaperBody): Record<string, string>;
  /** Null removes the member. An invalid value is passed on as typed, so that the API rejects it with its message. */
  value(texts: Record<string, string>): unknown;
}

/** Paths of the paper's media that a record can name. */
export interface MediaChoices {
  svg: readonly string[];
  icons: readonly string[];
  css: readonly string[];
}

const number = (text: string): unknown => (/^-?\d{1,9}$/.test(text) ? Number(text) : text);
const yes = [
  ['true', 'Yes'],
  ['false', 'No'],
] as const;

/** A member with a single field whose text is the value. */
function plain(
  name: keyof PaperBody,
  group: Member['group'],
  field: Omit<FormField, 'name' | 'value'>,
  { isOptional = false } = {},
): Member {
  return {
    group,
    fields: () => [{ ...field, name }],
    texts: (paper) => ({ [name]: String(paper[name] ?? '') }),
    value: ({ [name]: text = '' }) => (text === '' && isOptional ? null : text),
  };
}

const withValue = (member: Member, value: (text: string) => unknown): Member => ({
  ...member,
  value: (texts) => value(Object.values(texts)[0] ?? ''),
});

const optional = { isOptional: true };

const lines = (list: readonly string[] = []): string => list.join('\n');

/** A member whose values are the lines of a text; absent if the text is empty. */
function listed(name: string, text: string): Record<string, string[]> {
  const found = text.split('\n').flatMap((line) => line.trim() || []);
  return found.length === 0 ? {} : { [name]: found };
}

/** All members except sections and the blocks of the front, which have their own pages. */
export const SETTINGS: Record<Exclude<keyof PaperBody, 'sections' | 'front'>, Member> = {
  nameplate: plain('nameplate', 'Name', {
    label: 'Nameplate',
    kind: 'line',
    isRequired: true,
    max: 80,
    hint: 'The name of the paper, at the head of every page.',
  }),
  motto: plain('motto', 'Name', { label: 'Motto', kind: 'line', max: 200, hint: 'A line below the nameplate.' }),
  description: plain('description', 'Name', {
    label: 'Description',
    kind: 'line',
    max: 500,
    hint: 'For search engines, feeds and cards of links.',
  }),
  language: plain('language', 'Name', {
    label: 'Language',
    kind: 'line',
    max: 35,
    isRequired: true,
    hint: 'Of pieces that name none, and of the menus: a tag such as en, pt-BR or ja.',
  }),
  hue: withValue(
    plain('hue', 'Look', {
      label: 'Colour',
      kind: 'hue',
      min: 0,
      max: 359,
      hint: 'An angle on the colour wheel, from 0 to 359.',
    }),
    number,
  ),
  theme: plain(
    'theme',
    'Look',
    {
      label: 'Theme',
      kind: 'choice',
      choices: THEMES.map((name) => [name === DEFAULT_THEME ? '' : name, name] as const),
      hint: 'Columns, a cover and cards, or the newest first by day and clock.',
    },
    optional,
  ),
  typefaces: plain(
    'typefaces',
    'Look',
    { label: 'Typefaces', kind: 'typefaces', choices: TYPEFACE_NAMES.map((name) => [name, name] as const) },
    optional,
  ),
  logo: {
    group: 'Look',
    fields: ({ svg }) => [
      {
        name: 'logo.light',
        label: 'Logo',
        kind: 'line',
        options: svg,
        hint: 'An SVG among the media that stands for the nameplate, such as media/logo.svg.',
      },
      { name: 'logo.dark', label: 'Logo in dark mode', kind: 'line', options: svg },
    ],
    texts: ({ logo }) =>
      typeof logo === 'object'
        ? { 'logo.light': logo.light, 'logo.dark': logo.dark }
        : { 'logo.light': logo ?? '', 'logo.dark': '' },
    value: ({ 'logo.light': light = '', 'logo.dark': dark = '' }) =>
      dark !== '' ? { light, dark } : light === '' ? null : light,
  },
  icon: {
    ...plain('icon', 'Look', { label: 'Icon', kind: 'line' }, optional),
    fields: ({ icons }) => [
      {
        name: 'icon',
        label: 'Icon',
        kind: 'line',
        options: icons,
        hint: 'The SVG or PNG among the media from which the icons of browsers and phones are made.',
      },
    ],
  },
  style: {
    ...plain('style', 'Look', { label: 'Stylesheet', kind: 'line' }, optional),
    fields: ({ css }) => [
      {
        name: 'style',
        label: 'Stylesheet',
        kind: 'line',
        options: css,
        hint: 'A CSS file among the media, which follows Broadsheet’s own.',
      },
    ],
  },
  default_kind: plain('default_kind', 'Rules', {
    label: 'Kind',
    kind: 'choice',
    choices: KINDS.map((kind) => [kind, kind] as const),
    hint: 'Of pieces that name none.',
  }),
  source_floor: withValue(
    plain('source_floor', 'Rules', {
      label: 'Source floor',
      kind: 'number',
      min: SOURCE_FLOOR_MIN,
      max: 99,
      hint: 'How many publishers a piece on air cites at least. A higher floor leaves pieces on air, and is refused while a scheduled piece is below it.',
    }),
    number,
  ),
  paper_public: withValue(
    plain('paper_public', 'Rules', {
      label: 'Public',
      kind: 'choice',
      choices: yes,
      hint: 'A paper that is not public opens with a key alone, and leaves the newsstand.',
    }),
    (text) => (text === 'true' ? true : text === 'false' ? false : text),
  ),
  review: {
    group: 'Rules',
    fields: () => [
      {
        name: 'review',
        label: 'Approval by a person',
        kind: 'choice',
        choices: [
          ['', 'Agents publish on their own'],
          ['required', 'Every piece of an agent'],
          ['some', 'Those of the sections and personas below'],
        ],
        hint: 'What an agent files stays off the air until an admin approves it.',
      },
      { name: 'review.sections', label: 'Sections with approval', kind: 'text', rows: 3, hint: 'One a line.' },
      { name: 'review.personas', label: 'Personas with approval', kind: 'text', rows: 3, hint: 'One slug a line.' },
      {
        name: 'review.shown',
        label: 'Show readers who approved',
        kind: 'choice',
        choices: yes,
        hint: 'The name, the role and the time, at the byline and in the proof.',
      },
    ],
    texts({ review }) {
      const { sections, personas, shown = false } = typeof review === 'object' ? review : {};
      const some = sections === undefined && personas === undefined ? 'required' : 'some';
      return {
        review: review === undefined ? '' : some,
        'review.sections': lines(sections),
        'review.personas': lines(personas),
        'review.shown': String(shown),
      };
    },
    value({ review = '', 'review.sections': sections = '', 'review.personas': personas = '', 'review.shown': shown }) {
      if (review === '') return null;
      const who = review === 'some' ? { ...listed('sections', sections), ...listed('personas', personas) } : {};
      // Without names every piece would need a review, so this sends an empty list, which the API rejects.
      const named = review === 'some' && Object.keys(who).length === 0 ? { sections: [] } : who;
      return review === 'required' && shown !== 'true' ? review : { ...named, shown: shown === 'true' };
    },
  },
  link_cards: {
    ...plain('link_cards', 'Rules', {
      label: 'Cards of links',
      kind: 'choice',
      choices: yes,
      hint: 'Whether a bare link on a line of its own becomes a card, once the server has read the page.',
    }),
    texts: ({ link_cards = false }) => ({ link_cards: String(link_cards) }),
    value: ({ link_cards = '' }) => (link_cards === 'true' ? true : link_cards === 'false' ? null : link_cards),
  },
  sources: {
    group: 'Rules',
    fields: () => [
      {
        name: 'sources',
        label: 'Reading of sources',
        kind: 'choice',
        choices: [
          ['', 'Nobody reads them'],
          ['warn', 'Say what was found'],
          ['refuse', 'Air no piece whose quotes are not found'],
        ],
        hint: 'The server reads the addresses that pieces cite, and looks for their quotes.',
      },
      {
        name: 'sources.personas',
        label: 'Personas whose quotes must be found',
        kind: 'text',
        rows: 3,
        hint: 'One slug a line; none for all.',
      },
      {
        name: 'sources.republish',
        label: 'Show readers the text that was read',
        kind: 'choice',
        choices: yes,
        hint: 'Ask the owner of the rights first.',
      },
    ],
    texts: ({ sources }) => ({
      sources: sources?.read === true ? sources.quote_not_found : '',
      'sources.personas': lines(sources?.personas),
      'sources.republish': String(sources?.republish ?? false),
    }),
    value({ sources = '', 'sources.personas': personas = '', 'sources.republish': republish }) {
      if (sources === '') return null;
      return { read: true, quote_not_found: sources, ...listed('personas', personas), republish: republish === 'true' };
    },
  },
  standards: plain('standards', 'Rules', {
    label: 'Standards',
    kind: 'text',
    rows: 8,
    max: 20_000,
    hint: 'The desk’s working methods in Markdown, on the page of standards.',
  }),
  subscribe_box: plain(
    'subscribe_box',
    'Readers',
    {
      label: 'Subscribe box',
      kind: 'choice',
      choices: [
        ['', 'Only where the text has one'],
        ['end', 'At the end of every piece, and on the front'],
      ],
    },
    optional,
  ),
  alerts: {
    group: 'Readers',
    fields: () => [
      {
        name: 'alerts.hour',
        label: 'Hour of the mails',
        kind: 'number',
        min: 0,
        max: 23,
        hint: 'When daily and weekly mails go out; 7 by default.',
      },
      {
        name: 'alerts.time_zone',
        label: 'Time zone of the mails',
        kind: 'line',
        options: ZONES,
        hint: 'UTC by default.',
      },
    ],
    texts: ({ alerts }) => ({ 'alerts.hour': String(alerts?.hour ?? ''), 'alerts.time_zone': alerts?.time_zone ?? '' }),
    value: ({ 'alerts.hour': hour = '', 'alerts.time_zone': time_zone = '' }) =>
      hour === '' && time_zone === ''
        ? null
        : { ...(hour === '' ? {} : { hour: number(hour) }), ...(time_zone === '' ? {} : { time_zone }) },
  },
  contact: plain(
    'contact',
    'Readers',
    {
      label: 'Contact',
      kind: 'line',
      max: 2_048,
      hint: 'A mail address, or the https address of a page that takes messages.',
    },
    optional,
  ),
  imprint: plain(
    'imprint',
    'Address and law',
    {
      label: 'Imprint',
      kind: 'text',
      rows: 4,
      max: 1_000,
      hint: 'Who is responsible, in the footer of every page: a text, or pages/imprint.md for a link to that page.',
    },
    optional,
  ),
  url: plain(
    'url',
    'Address and law',
    {
      label: 'Address',
      kind: 'line',
      max: 2_048,
      hint: 'The root of the paper’s own domain. The operator gives hosts, and a file or a TXT record proves them.',
    },
    optional,
  ),
  analytics: plain(
    'analytics',
    'Address and law',
    {
      label: 'Analytics',
      kind: 'line',
      max: 2_048,
      hint: 'The https address of the one script of another host that pages load.',
    },
    optional,
  ),
};

type Name = keyof typeof SETTINGS;
const NAMES = Object.keys(SETTINGS) as Name[];

/** The form of a paper's settings, in groups. */
export function settingsForm(paper: PaperBody, media: MediaChoices): { title: string; fields: FormField[] }[] {
  const groups = new Map<string, FormField[]>();
  for (const name of NAMES) {
    const { group, fields, texts } = SETTINGS[name];
    const values = texts(paper);
    const listed = fields(media).map((field) => ({ ...field, value: values[field.name] ?? '' }));
    groups.set(group, [...(groups.get(group) ?? []), ...listed]);
  }
  return [...groups].map(([title, fields]) => ({ title, fields }));
}

/**
 * The changes that a form makes: the body of `PUT /api/v1/config`, and each member before and after. Members without a
 * field in the form stay as they are.
 */
export function settingsChange(
  given: Record<string, string>,
  paper: PaperBody,
): { body: Record<string, unknown>; changed: Changed[] } {
  const body: Record<string, unknown> = {};
  const changed: Changed[] = [];
  for (const name of NAMES) {
    const { fields, texts, value } = SETTINGS[name];
    const before = texts(paper);
    const after = Object.fromEntries(
      Object.entries(before).map(([field, text]) => [field, textIn(given, field) ?? text]),
    );
    const differing = Object.keys(before).filter((field) => before[field] !== after[field]);
    if (differing.length === 0) continue;
    body[name] = value(after);
    for (const field of differing) {
      const label = fields({ svg: [], icons: [], css: [] }).find((one) => one.name === field)?.label ?? field;
      changed.push({ label, before: inBrief(before[field] ?? ''), after: inBrief(after[field] ?? '') });
    }
  }
  return { body, changed };
}

/** The text of a field. The color has a second field, for angles between the swatches. */
function textIn(given: Record<string, string>, field: string): string | undefined {
  const exact = field === 'hue' ? given['hue.exact'] : undefined;
  const text = exact === undefined || exact.trim() === '' ? given[field] : exact;
  const plain = text?.replaceAll('\r\n', '\n').trim();
  return field === 'typefaces' && plain === DEFAULT_TYPEFACES ? '' : plain;
}

/** The previous values of the members that a change replaces. Sending them in the same request undoes the change. */
export const replacedBy = (body: Record<string, unknown>, paper: PaperBody): Record<string, unknown> =>
  Object.fromEntries(Object.keys(body).map((name) => [name, paper[name as keyof PaperBody] ?? null]));
