import { EditorView } from '@codemirror/view';
import type { EditorCheck, EditorFiled } from '../../../desk/console/editor-view.ts';
import { elementOf } from '../element.ts';
import { contentOf, Drafts, isSame } from './drafts.ts';
import { around, linesWith, link } from './markup.ts';
import { Pictures } from './pictures.ts';
import { Preview } from './preview.ts';
import { Problems } from './problems.ts';
import { failure, send } from './request.ts';
import { Sources } from './sources.ts';
import { ProseText } from './text.ts';

const form = elementOf('editor', HTMLFormElement);
const status = elementOf('said', HTMLElement);
const say = (text: string): void => {
  status.textContent = text;
};

const drafts = new Drafts(form.dataset.draft ?? '');
const content = () =>
  contentOf(
    form,
    sources.rows.map((row) => sources.fieldsOf(row).map(({ value }) => value)),
  );

/** Runs after every change of the text, a field or the sources. */
function changed(): void {
  sources.count(prose.text);
  drafts.keep(content);
  preview.soon();
}

const sources = new Sources(() => changed());
const run = (command: (view: EditorView) => boolean) => () => {
  command(prose.view);
  prose.view.focus();
};
const COMMANDS: Record<string, () => void> = {
  bold: run(around('**')),
  italic: run(around('*')),
  heading: run(linesWith('## ')),
  quote: run(linesWith('> ')),
  list: run(linesWith('- ')),
  link: run(link),
  cite,
  note: insertNote,
  picture: () => pictures.ask(),
  help: () => elementOf('shortcuts', HTMLDialogElement).showModal(),
};
const key = (keys: string, name: string) => ({
  key: keys,
  preventDefault: true,
  run: () => {
    COMMANDS[name]?.();
    return true;
  },
});
const prose: ProseText = new ProseText(elementOf('prose', HTMLTextAreaElement), {
  nonce: form.dataset.nonce ?? '',
  keys: [
    key('Mod-b', 'bold'),
    key('Mod-i', 'italic'),
    key('Mod-k', 'link'),
    key('Mod-Alt-f', 'cite'),
    key('Mod-Alt-d', 'note'),
  ],
  extensions: [
    sources.extensions,
    EditorView.domEventHandlers({
      paste: (event) => takePicture(event, event.clipboardData),
      drop: (event) => takePicture(event, event.dataTransfer),
    }),
  ],
  changed,
});
const problems = new Problems(prose, form);
const isBlank = (): boolean => ['headline', 'dek', 'prose'].every((name) => new FormData(form).get(name) === '');

const preview = new Preview(form, {
  // An empty form has no problems yet.
  checked: (check) => isBlank() || shown(check, false),
  failed: say,
});
const pictures = new Pictures(form, ({ path, alt }, place) => {
  if (place === 'picture') {
    const words = alt.replace(/[\\[\]]/g, '\\$&');
    prose.insert(`![${words}](${path})`);
  } else {
    for (const [id, text] of [
      ['image_src', path],
      ['image_alt', alt],
    ] as const) {
      const field = elementOf(id, HTMLInputElement);
      field.value = text;
      const details = field.closest('details');
      if (details !== null) details.open = true;
    }
    changed();
  }
  say(`The picture is kept as ${path}.`);
});

function takePicture(event: Event, data: DataTransfer | null): boolean {
  const file = [...(data?.files ?? [])].find(({ type }) => type.startsWith('image/'));
  if (file === undefined) return false;
  event.preventDefault();
  pictures.ask(file);
  return true;
}

function shown(check: EditorCheck, all: boolean): void {
  const count = problems.show(check.problems, all);
  problems.hint(check.hints);
  const place = document.getElementById('air-utc');
  if (place !== null)
    place.textContent = check.air_at === null ? '' : `That is ${check.air_at.slice(0, 16).replace('T', ' ')} UTC.`;
  if (all) say(count === 0 ? 'Nothing keeps it from being filed.' : '');
}

const citing = elementOf('citing', HTMLDialogElement);
// Runs before the dialog closes, so that the cursor is in place for what is typed next.
citing.querySelector('form')?.addEventListener('submit', (event) => {
  const choice = (event.submitter as HTMLButtonElement | null)?.value ?? '';
  event.preventDefault();
  citing.close();
  if (choice === '') prose.view.focus();
  else sources.cite(prose, Number(choice) || null);
});

/** Lists the existing sources to cite, and the choice of a new one. Without sources, adds a new one at once. */
function cite(): void {
  const choices = sources.rows.flatMap((row, index) => {
    const [statement, publisher] = sources.fieldsOf(row).map(({ value }) => value.trim());
    if (!statement && !publisher) return [];
    const button = document.createElement('button');
    button.value = String(index + 1);
    button.className = 'plain';
    button.textContent = `${index + 1}. ${[statement, publisher].filter(Boolean).join(', ')}`;
    return button;
  });
  if (choices.length === 0) return sources.cite(prose, null);
  citing.querySelector('.choices')?.replaceChildren(...choices);
  citing.showModal();
}

/**
 * Inserts a reference to a new note, and moves the cursor to the note's text. Its letter depends on its place in the
 * text.
 */
function insertNote(): void {
  const { text, view } = prose;
  let n = 1;
  while (text.includes(`[^note-${n}]`)) n++;
  const at = view.state.selection.main.to;
  const end = text.length;
  const before = text.endsWith('\n\n') ? '' : text.endsWith('\n') ? '\n' : '\n\n';
  const reference = `[^note-${n}]`;
  const definition = `${before}${reference}: `;
  prose.change({
    changes: [
      { from: at, insert: reference },
      { from: end, insert: definition },
    ],
    selection: { anchor: end + reference.length + definition.length },
    userEvent: 'input',
  });
}

/** Sets the revision of the piece on which the form is based. */
function setRevision(revision: string): void {
  form.dataset.revision = revision;
  const field = form.elements.namedItem('revision');
  if (field instanceof HTMLInputElement) field.value = revision;
}

let isFiling = false;
/** Whether the browser itself sends the next submission. */
let isNative = false;

/** Files the form. Then opens the piece, or with `stays`, keeps editing. */
async function file(stays: boolean): Promise<void> {
  if (isFiling) return;
  isFiling = true;
  say('Filing …');
  try {
    const answer = await send<EditorFiled>(form, 'file', stays ? { more: { air: 'keep' } } : {});
    if (answer.filed) {
      drafts.remove();
      if (!stays) return location.assign(answer.location);
      continueAs(answer);
    } else if (answer.is_conflict) {
      // The server shows both versions, with the form as it is.
      isNative = true;
      form.requestSubmit(form.querySelector<HTMLButtonElement>('.send [value="file"]'));
    } else {
      problems.show(answer.problems, true);
      say(`${answer.message.charAt(0).toUpperCase()}${answer.message.slice(1)}.`);
      if (answer.problems.length > 0) problems.focus();
    }
  } catch (error) {
    say(failure(error));
  } finally {
    isFiling = false;
  }
}

/** Continues editing the piece that was just filed. */
function continueAs({ edit, revision, draft, said }: Extract<EditorFiled, { filed: true }>): void {
  history.replaceState(null, '', edit);
  form.action = edit;
  setRevision(String(revision));
  drafts.rename(draft);
  say(said);
}

function restore(): void {
  const draft = drafts.get();
  const filed = content();
  if (draft === null || form.dataset.sent !== undefined || isSame(draft, filed)) return;
  fill(draft);
  // So that filing it detects revisions filed since.
  const isOld = draft.revision !== form.dataset.revision;
  setRevision(draft.revision);
  const notice = elementOf('restored', HTMLElement);
  const when = new Date(draft.at).toLocaleString('en-GB', { dateStyle: 'medium', timeStyle: 'short' });
  const since = isOld ? ' The piece was revised since: filing it will show you both.' : '';
  const text = notice.querySelector('p');
  if (text !== null)
    text.textContent = `This is what you wrote until ${when} and did not file, from this browser.${since}`;
  notice.hidden = false;
  notice.querySelector('button')?.addEventListener('click', () => {
    fill(filed);
    setRevision(filed.revision);
    drafts.remove();
    notice.hidden = true;
    prose.view.focus();
  });
}

function fill({ fields, sources: rows }: Pick<ReturnType<typeof content>, 'fields' | 'sources'>): void {
  for (const [name, value] of Object.entries(fields)) {
    const field = form.elements.namedItem(name);
    if (
      field instanceof RadioNodeList ||
      field instanceof HTMLSelectElement ||
      field instanceof HTMLInputElement ||
      field instanceof HTMLTextAreaElement
    )
      field.value = value;
  }
  prose.text = fields.prose ?? '';
  sources.fill(rows.length > 0 ? rows : [[], []]);
}

form.addEventListener('input', (event) => {
  if (event.target instanceof HTMLElement && event.target.closest('.cm-editor') === null) changed();
});
form.addEventListener('change', (event) => {
  if (event.target instanceof HTMLSelectElement) changed();
});
form.addEventListener('submit', (event) => {
  const { name, value } = (event.submitter ?? {}) as HTMLButtonElement;
  const what = name === 'do' ? value : '';
  const row = event.submitter?.closest('.source') ?? null;
  const own: Record<string, () => unknown> = {
    check: async () => {
      const check = await preview.now();
      if (check === null) return;
      shown(check, true);
      if (check.problems.length > 0) problems.focus();
    },
    file: () => file(false),
    add: () => sources.add(),
    renumber: () => sources.renumber(prose),
    ...(row === null ? {} : { [what]: () => sources.remove(prose, row) }),
  };
  const act = own[what];
  if (act === undefined || isNative) return;
  event.preventDefault();
  // The console's own script would treat the button as the submitter of a sent form.
  event.stopPropagation();
  act();
});

document.addEventListener('keydown', (event) => {
  if (event.key.toLowerCase() === 's' && (event.ctrlKey || event.metaKey) && !event.shiftKey && !event.altKey) {
    event.preventDefault();
    if (form.elements.namedItem('air') !== null) void file(true);
    else void preview.now().then((check) => check !== null && shown(check, true));
  }
});

addEventListener('pagehide', () => drafts.flush());

const tools = elementOf('tools', HTMLElement);
tools.hidden = false;
tools.addEventListener('click', ({ target }) => {
  const name = target instanceof Element ? target.closest('button')?.dataset.do : undefined;
  if (name !== undefined) COMMANDS[name]?.();
});
// Without this script, the file is sent with the form. With it, a dialog handles uploads.
document.querySelector('.upload')?.remove();
if (navigator.platform.startsWith('Mac')) for (const mod of document.querySelectorAll('kbd.mod')) mod.textContent = '⌘';
const zone = form.elements.namedItem('air_zone');
if (zone instanceof HTMLInputElement && zone.value === 'UTC' && form.dataset.sent === undefined)
  zone.value = Intl.DateTimeFormat().resolvedOptions().timeZone;

restore();
sources.count(prose.text);
if (form.dataset.sent === undefined) void preview.now();
else preview.soon();
