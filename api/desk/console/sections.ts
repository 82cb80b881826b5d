import type { SectionLine } from '../../../src/desk/console/paper-views.ts';
import { type PaperBody, SECTIONS_MAX, sectionSlug } from '../../../src/desk/papers/paper.ts';
import { Fault } from '../../../src/shared/fault.ts';
import type { Form } from '../../middleware/form-body.ts';
import { requireKeyOfLevel } from '../../middleware/key.ts';
import { type Action, showAgain, undo } from './action.ts';
import type { ConsoleParts, Shown } from './page.ts';
import { slugOf } from './pieces.ts';
import { type ConsoleContext, readOwnForm } from './session.ts';
import { fileOf } from './settings.ts';

/** The sections, in the paper's order, with what is on air and waiting in each. */
export function sectionsPage({ app }: ConsoleParts, c: ConsoleContext): Shown {
  const view = { sections: linesOf({ app }, c), file: fileOf(app, c, 'paper.yaml'), max: SECTIONS_MAX };
  return ['/console/sections', 'Sections', view];
}

function linesOf({ app }: Pick<ConsoleParts, 'app'>, c: ConsoleContext): SectionLine[] {
  const counts = app.store.desk.console.countsBySection(slugOf(c));
  const { paper, root } = c.get('site');
  return paper.sections.map((name) => {
    const { on_air, waiting } = counts.get(name) ?? { on_air: 0, waiting: 0 };
    const address = `/sections/${sectionSlug(name)}/`;
    return { name, on_air, waiting, address, url: root + address };
  });
}

/** A row of the form: the section that it was, its name now, and its position. */
interface Row {
  was: string;
  name: string;
  position: number;
}

/** The rows of a form, in their order. A row without a name drops its section. */
function rowsIn(form: Form, { sections }: PaperBody): Row[] {
  const rows: Row[] = [];
  for (let index = 0; index <= sections.length; index++) {
    const position = Number(form.text(`position.${index}`) || index + 1);
    rows.push({ was: form.text(`was.${index}`), name: form.text(`name.${index}`), position });
  }
  return rows.sort((a, b) => a.position - b.position);
}

const namesOf = (rows: readonly Row[]): string[] => rows.flatMap(({ name }) => (name === '' ? [] : [name]));

/** Says what a change of sections would do, with what was typed, and changes nothing. */
export function showSections(parts: ConsoleParts) {
  return async (c: ConsoleContext): Promise<Response> => {
    requireKeyOfLevel(c.get('key'), 'admin');
    const form = await readOwnForm(c);
    const { paper } = c.get('site');
    const rows = rowsIn(form, paper);
    const lines = new Map(linesOf(parts, c).map((line) => [line.name, line]));
    const changed = rows.flatMap(({ was, name }) => {
      if (was === name) return [];
      if (was === '')
        return [{ label: 'New', before: 'nothing', after: `${name}, at /sections/${sectionSlug(name)}/` }];
      const { on_air = 0, waiting = 0 } = lines.get(was) ?? {};
      const address = `/sections/${sectionSlug(was)}/`;
      const label =
        on_air + waiting > 0
          ? `Refused while pieces are in it (${on_air} on air, ${waiting} waiting): their section is signed with them. File them in another section first`
          : name === ''
            ? `Dropped: ${address} and its feed end`
            : `Renamed: ${address} and its feed end, /sections/${sectionSlug(name)}/ begins`;
      return [{ label, before: was, after: name || 'nothing' }];
    });
    const order = namesOf(rows);
    if (order.join('\n') !== paper.sections.join('\n')) {
      changed.push({ label: 'Order', before: paper.sections.join(', '), after: order.join(', ') });
    }
    const text =
      changed.length === 0 ? 'Nothing differs from what is saved.' : 'Nothing is saved yet. This would change:';
    const notice = { kind: 'done' as const, text, changed, action: 'sections/save', given: form.given() };
    return showAgain(parts, c, 'sections', 200, notice);
  };
}

/** What can be done to the sections. */
export const sectionActions: Record<string, Action> = {
  save: {
    level: 'admin',
    before: (c): PaperBody => c.get('site').paper,
    request: (form, c) => {
      const { paper } = c.get('site');
      const sections = namesOf(rowsIn(form, paper));
      if (sections.join('\n') !== paper.sections.join('\n'))
        return { method: 'PUT', path: 'config', body: { sections } };
      throw new Fault('invalid_request', 'nothing differs from what is saved; change a name or a position first');
    },
    said: ({ sections, pressed }, _form, before: PaperBody) => ({
      text: `Saved${pressed ? '' : '; the pages are being written'}.`,
      changed: [{ label: 'Sections', before: before.sections.join(', '), after: sections.join(', ') }],
      ...undo('settings/restore', 'Set them back', { members: JSON.stringify({ sections: before.sections }) }),
    }),
  } satisfies Action<PaperBody>,
};
