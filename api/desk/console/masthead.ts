import type { PersonaLine } from '../../../src/desk/console/paper-views.ts';
import {
  changeOf,
  membersOf,
  personaFields,
  personaTexts,
  withValues,
} from '../../../src/desk/console/record-forms.ts';
import { type Persona, portraitPath } from '../../../src/desk/papers/masthead.ts';
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

/** Every persona, active or retired, with how much it has on air and waiting. */
export function mastheadPage({ app }: ConsoleParts, c: ConsoleContext): Shown {
  const { desk } = app.store;
  const paper = slugOf(c);
  const counts = desk.console.countsByPersona(paper);
  const personas = desk.personas(paper).map((persona) => lineOf(persona, counts));
  personas.sort((a, b) => Number(b.active) - Number(a.active) || a.name.localeCompare(b.name));
  return ['/console/masthead', 'Masthead', { personas, fields: withValues(personaFields(picturesOf({ app }, c)), {}) }];
}

/** One persona. */
export function personaPage({ app }: ConsoleParts, c: ConsoleContext): Shown {
  const persona = personaOf({ app }, c);
  const view = {
    persona: lineOf(persona, app.store.desk.console.countsByPersona(slugOf(c))),
    fields: withValues(personaFields(picturesOf({ app }, c)), personaTexts(persona)),
    url: `${c.get('site').root}/masthead/${persona.slug}/`,
    file: fileOf(app, c, `masthead/${persona.slug}.yaml`),
  };
  return ['/console/persona', persona.name, view];
}

function lineOf(
  { slug, name, title, beat, active, avatar }: Persona,
  counts: ReadonlyMap<string, { on_air: number; waiting: number }>,
): PersonaLine {
  const { on_air, waiting } = counts.get(slug) ?? { on_air: 0, waiting: 0 };
  return { slug, name, title, beat, active, portrait: `see/${avatar ?? portraitPath(slug)}`, on_air, waiting };
}

const picturesOf = ({ app }: Pick<ConsoleParts, 'app'>, c: ConsoleContext): string[] =>
  app.store.desk
    .allMedia(slugOf(c))
    .filter(({ media_type }) => media_type.startsWith('image/'))
    .slice(0, SUGGESTED)
    .map(({ path }) => path);

function personaOf({ app }: Pick<ConsoleParts, 'app'>, c: ConsoleContext): Persona {
  const found = archiveOf(app, c).persona(c.req.param('slug') ?? '');
  if (found === null) throw notFound();
  return found;
}

const put = (slug: string, body: unknown) =>
  ({ method: 'PUT', path: `masthead/${encodeURIComponent(slug)}`, body }) as const;
const slugIn = (c: ConsoleContext): string => c.req.param('slug') ?? '';
const changeIn = (form: Form, persona: Persona) => changeOf(personaFields([]), personaTexts(persona), form.given());

/** What can be done to the masthead. */
export function mastheadActions(parts: ConsoleParts): Record<string, Action> {
  const before = (c: ConsoleContext) => personaOf(parts, c);
  return {
    add: {
      level: 'admin',
      request: (form) => {
        const texts = Object.fromEntries(personaFields([]).map(({ name }) => [name, form.text(name)]));
        return put(form.text('slug'), membersOf(texts, ['avatar']));
      },
      said: ({ name, slug }) => ({
        text: `${name} is on the masthead.`,
        ...undo(`masthead/${slug}/retire`, 'Retire it again'),
      }),
      next: ({ slug }) => `masthead/${slug}`,
    },
    ':slug/save': {
      level: 'admin',
      before,
      request: (form, c) => put(slugIn(c), membersOf(changeIn(form, personaOf(parts, c)).texts, ['avatar'])),
      said: (_body, form, persona: Persona) => {
        const { changed } = changeIn(form, persona);
        if (changed.length === 0) return { text: 'Nothing differs from what is saved.' };
        return {
          text: 'Saved.',
          changed,
          ...undo(`masthead/${persona.slug}/restore`, 'Set it back', {
            members: JSON.stringify(personaTexts(persona)),
          }),
        };
      },
    } satisfies Action<Persona>,
    ':slug/restore': {
      level: 'admin',
      before,
      request: (form, c) =>
        put(slugIn(c), membersOf(membersIn(form.text('members')) as Record<string, string>, ['avatar'])),
      said: (_body, _form, persona: Persona) => ({
        text: 'Set back.',
        ...undo(`masthead/${persona.slug}/restore`, 'Set it again', { members: JSON.stringify(personaTexts(persona)) }),
      }),
    } satisfies Action<Persona>,
    ':slug/retire': {
      level: 'admin',
      request: (_form, c) => put(slugIn(c), { active: false }),
      said: ({ name, slug }) => ({
        text: `${name} is retired: it leaves the masthead and may sign nothing new. Its page and its pieces stay.`,
        ...undo(`masthead/${slug}/return`, 'Bring it back'),
      }),
    },
    ':slug/return': {
      level: 'admin',
      request: (_form, c) => put(slugIn(c), { active: true }),
      said: ({ name, slug }) => ({
        text: `${name} is back on the masthead.`,
        ...undo(`masthead/${slug}/retire`, 'Retire it'),
      }),
    },
  };
}
