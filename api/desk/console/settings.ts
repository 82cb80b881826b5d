import { replacedBy, settingsChange, settingsForm } from '../../../src/desk/console/settings-form.ts';
import { configOf } from '../../../src/desk/papers/front.ts';
import type { PaperBody } from '../../../src/desk/papers/paper.ts';
import type { AppContext } from '../../../src/server/context.ts';
import { Fault } from '../../../src/shared/fault.ts';
import { requireKeyOfLevel } from '../../middleware/key.ts';
import { type Action, showAgain, undo } from './action.ts';
import type { ConsoleParts, Shown } from './page.ts';
import { slugOf } from './pieces.ts';
import { type ConsoleContext, readOwnForm } from './session.ts';

/** How many paths a field suggests. */
const SUGGESTED = 200;

/** The file of the content folder from which a record was filed, or null. When it changes, it replaces the record. */
export function fileOf({ store }: AppContext, c: ConsoleContext, name: string): string | null {
  return store.desk.applied(`${slugOf(c)}/${name}`) === null ? null : name;
}

/** The paper's record as a form. A read seat sees what its key may read. */
export function settingsPage({ app }: ConsoleParts, c: ConsoleContext): Shown {
  const { paper } = c.get('site');
  const isAdmin = c.get('key').level === 'admin';
  const paths = (...types: string[]) =>
    app.store.desk
      .allMedia(slugOf(c))
      .filter(({ media_type }) => types.includes(media_type))
      .slice(0, SUGGESTED)
      .map(({ path }) => path);
  const svg = isAdmin ? paths('image/svg+xml') : [];
  const media = isAdmin
    ? { svg, icons: [...svg, ...paths('image/png')], css: paths('text/css') }
    : { svg, icons: [], css: [] };
  const groups = settingsForm(paper, media);
  const readable = new Set(Object.keys(configOf(paper)));
  const view = {
    groups: isAdmin
      ? groups
      : groups.map(({ title, fields }) => ({ title, fields: fields.filter(({ name }) => readable.has(name)) })),
    file: fileOf(app, c, 'paper.yaml'),
  };
  return ['/console/settings', 'Settings', view];
}

/** Shows what a form would change, with what was typed, and changes nothing. */
export function showSettings(parts: ConsoleParts) {
  return async (c: ConsoleContext): Promise<Response> => {
    requireKeyOfLevel(c.get('key'), 'admin');
    const given = (await readOwnForm(c)).given();
    const { changed } = settingsChange(given, c.get('site').paper);
    const text =
      changed.length === 0 ? 'Nothing differs from what is saved.' : 'Nothing is saved yet. This would change:';
    return showAgain(parts, c, 'settings', 200, { kind: 'done', text, changed, action: 'settings/save', given });
  };
}

/** What can be done to the settings. */
export const settingsActions: Record<string, Action> = {
  save: {
    level: 'admin',
    before: (c): PaperBody => c.get('site').paper,
    request: (form, c) => {
      const { body } = settingsChange(form.given(), c.get('site').paper);
      if (Object.keys(body).length > 0) return { method: 'PUT', path: 'config', body };
      throw new Fault('invalid_request', 'nothing differs from what is saved; change a field first');
    },
    said: ({ pressed }, form, before: PaperBody) => {
      const { body, changed } = settingsChange(form.given(), before);
      return {
        text: `Saved${pressed ? '' : '; the pages are being written'}.`,
        changed,
        ...undo('settings/restore', 'Set it back', { members: JSON.stringify(replacedBy(body, before)) }),
      };
    },
  } satisfies Action<PaperBody>,
  restore: {
    level: 'admin',
    before: (c): PaperBody => c.get('site').paper,
    request: (form) => ({ method: 'PUT', path: 'config', body: membersIn(form.text('members')) }),
    said: (_body, form, before: PaperBody) => ({
      text: 'Set back.',
      ...undo('settings/restore', 'Set it again', {
        members: JSON.stringify(replacedBy(membersIn(form.text('members')), before)),
      }),
    }),
  } satisfies Action<PaperBody>,
};

/** Members of a record as JSON, from a button of the console. */
export function membersIn(text: string): Record<string, unknown> {
  try {
    const members: unknown = JSON.parse(text);
    if (typeof members === 'object' && members !== null) return members as Record<string, unknown>;
  } catch {
    // Reported below.
  }
  throw new Fault('invalid_request', 'members is not JSON; use the button of the page', { field: 'members' });
}
