import { randomBytes } from 'node:crypto';
import type { Story } from '../../../src/desk/archive.ts';
import {
  type EditorFields,
  fieldsFrom,
  fieldsOf,
  filingBody,
  inOrderCited,
  newFields,
  problemAt,
  withoutFact,
} from '../../../src/desk/console/editor-fields.ts';
import type { EditorCheck, EditorConflict, EditorFiled, EditorView } from '../../../src/desk/console/editor-view.ts';
import { differences, merged } from '../../../src/desk/console/versions.ts';
import type { ConsolePages, Notice } from '../../../src/desk/console/views.ts';
import { ZONES } from '../../../src/desk/console/zoned-time.ts';
import { KINDS } from '../../../src/desk/door/piece.ts';
import type { FactHint } from '../../../src/desk/fact-hints.ts';
import type { Build } from '../../../src/desk/press/build.ts';
import { Fault } from '../../../src/shared/fault.ts';
import type { Problem } from '../../../src/shared/shape.ts';
import { requireKeyOfLevel } from '../../middleware/key.ts';
import { archiveOf, requirePiece } from '../context.ts';
import { LOADED, previewedFile } from '../writing/preview-page.ts';
import { idempotencyKey, redirect, refusalOf, undo } from './action.ts';
import { readEditorForm } from './editor-form.ts';
import {
  type Answered,
  type ApiRequest,
  askApi,
  type ConsoleParts,
  consoleRoot,
  frameOf,
  pathBelow,
  sendConsole,
} from './page.ts';
import type { ConsoleContext } from './session.ts';

/** The editor's form, as it was sent or as the piece has it. */
interface Edited {
  story: Story | null;
  fields: EditorFields;
  /** The revision that the fields were made from; 0 for a new piece. */
  revision: number;
}

type Shown = Edited & Partial<Pick<EditorView, 'checked' | 'conflict' | 'is_sent'>> & { notice?: Notice | null };

/** The editor of a new piece, or of the piece in the path. */
export function editorPage(parts: ConsoleParts) {
  return async (c: ConsoleContext): Promise<Response> => {
    requireKeyOfLevel(c.get('key'), 'admin');
    const story = storyIn(parts, c);
    const fields = story === null ? emptyFields(parts, c) : fieldsOf(story, zoneOf(c));
    const notice = parts.notices.take(c.get('session').id, c.req.query('said'));
    return show(parts, c, 200, { story, fields, revision: story?.revision ?? 0, notice });
  };
}

/** A file that the page in the editor's frame loads. It may be of any piece: the seat may see all of them. */
export function editorFile(parts: ConsoleParts, build: Build) {
  return async (c: ConsoleContext): Promise<Response> => {
    requireKeyOfLevel(c.get('key'), 'admin');
    const path = pathBelow(c).slice('write/page/'.length);
    const file = LOADED.test(path) ? await previewedFile(parts.app, build, c, { story: null, path }) : null;
    if (file === null) throw new Fault('not_found', `there is no file ${JSON.stringify(path.slice(0, 200))} here`);
    file.headers.set('Cache-Control', 'private, no-store');
    return file;
  };
}

/** What the buttons of the editor's form do: check, file, or change the form. */
export function editorAction(parts: ConsoleParts) {
  return async (c: ConsoleContext): Promise<Response> => {
    requireKeyOfLevel(c.get('key'), 'admin');
    const form = await readEditorForm(c);
    const story = storyIn(parts, c);
    const edited: Edited = { story, fields: fieldsFrom(form), revision: revisionOf(form.text('revision'), story) };
    const { fields } = edited;
    const wants = form.text('do');
    const [, removed] = /^remove-(\d{1,4})$/.exec(wants) ?? [];
    if (removed !== undefined)
      return show(parts, c, 200, { ...edited, fields: withoutFact(fields, Number(removed)), is_sent: true });
    switch (wants) {
      case 'file':
        return file(parts, c, edited, form);
      case 'add': {
        const count = form.getAll('fact_statement').length + 1;
        const blank = { statement: '', source: '', instrument: '', claim_key: '' };
        const facts = Array.from({ length: count }, (_, index) => fields.facts[index] ?? blank);
        return show(parts, c, 200, { ...edited, fields: { ...fields, facts }, is_sent: true });
      }
      case 'renumber':
        return show(parts, c, 200, { ...edited, fields: inOrderCited(fields), is_sent: true });
      case 'picture':
      case 'image':
        return uploadPicture(parts, c, edited, { form, place: wants });
      case 'merge':
        return checkAndShow(parts, c, 200, mergedWith(parts, c, edited, form));
      default:
        return checkAndShow(parts, c, 200, edited);
    }
  };
}

function storyIn({ app }: ConsoleParts, c: ConsoleContext): Story | null {
  const id = c.req.param('id');
  if (id === undefined) return null;
  const story = requirePiece(archiveOf(app, c), id);
  if (!story.headline_withheld) return story;
  throw new Fault('withdrawn', 'the headline of this piece is withheld, and so is its text; file another piece');
}

/** The revision that the form was made from. Throws `invalid_request` unless the piece has it. */
function revisionOf(text: string, story: Story | null): number {
  if (story === null) return 0;
  const revision = Number(text);
  if (Number.isInteger(revision) && revision >= 1 && revision <= story.revision) return revision;
  throw new Fault(
    'invalid_request',
    `revision ${JSON.stringify(text.slice(0, 20))} is not a revision of this piece; open the editor again`,
    {
      field: 'revision',
    },
  );
}

const zoneOf = (c: ConsoleContext): string => c.get('site').paper.alerts?.time_zone ?? 'UTC';

function emptyFields({ app }: ConsoleParts, c: ConsoleContext): EditorFields {
  const { sections, default_kind: kind } = c.get('site').paper;
  const { persona } = c.get('key');
  const byline = persona ?? archiveOf(app, c).masthead()[0]?.slug ?? '';
  return newFields({ category: sections[0] ?? '', byline, kind, air_zone: zoneOf(c) });
}

/** Asks the door about the fields, without filing them. */
async function checked(parts: ConsoleParts, c: ConsoleContext, { story, fields }: Edited): Promise<EditorCheck> {
  const { body, problems } = filingBody(fields, story === null);
  // A piece on air must meet the rules for airing, whatever the form says.
  const kept = story === null ? {} : { slug: story.slug, ...(story.state === 'on_air' ? { air: true } : {}) };
  const answer = await askApi(parts, c, { method: 'POST', path: 'preview', body: { ...body, ...kept } });
  if (answer.status >= 400) throw new Fault(answer.body.error ?? 'invalid_request', answer.body.message);
  const found: Problem[] = answer.body.problems;
  const hints: FactHint[] = answer.body.hints ?? [];
  const { air } = body;
  return {
    problems: [...problems, ...found.map(problemAt)],
    hints: hints.map(({ field, message, statement }) =>
      problemAt({ field: `${field}.claim_key`, message: `${message}: “${statement}”` }),
    ),
    html: forFrame(c, answer.body.html),
    air_at: typeof air === 'string' ? air : null,
  };
}

/**
 * A page for the editor's frame, which runs no scripts. Its files are below the console: those of a private paper have no
 * other address that a browser may open.
 */
function forFrame(c: ConsoleContext, html: string): string {
  const { served } = c.get('site');
  const root = served.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  const files = /(?:_astro|icons|media|pictures|portraits)\/|[\w-]+\.(?:css|svg|ico|png|webmanifest)["\s]/.source;
  return html
    .replace(/<script\b[^>]*>[^<]*<\/script>/g, '')
    .replace(new RegExp(`${root}/(?=${files})`, 'g'), `${consoleRoot(c)}write/page/`);
}

async function checkAndShow(parts: ConsoleParts, c: ConsoleContext, status: number, shown: Shown): Promise<Response> {
  const check = await checked(parts, c, shown);
  if (wantsJson(c)) return c.json(check);
  return show(parts, c, status, { ...shown, checked: check, is_sent: true });
}

/** Files the fields, unless one of them cannot be sent. */
async function file(
  parts: ConsoleParts,
  c: ConsoleContext,
  edited: Edited,
  form: Awaited<ReturnType<typeof readEditorForm>>,
): Promise<Response> {
  const { story, fields, revision } = edited;
  const { body, problems } = filingBody(fields, story === null);
  if (problems.length > 0)
    return refused(parts, c, edited, { status: 422, body: { message: 'the piece was not filed' } });
  const asked: ApiRequest =
    story === null
      ? { method: 'POST', path: 'stories', body }
      : { method: 'PUT', path: `stories/${story.id}`, body: { ...body, revision } };
  const answer = await askApi(parts, c, asked, idempotencyKey(form, asked));
  if (answer.status >= 400) return refused(parts, c, edited, answer);
  const filed: { id: string; revision: number; state: Story['state']; scheduled_at: string | null } = answer.body.story;
  const said = saidOf(filed, story);
  const page = `pieces/${filed.id}`;
  const response = redirect(parts, c, page, { kind: 'done', ...said });
  if (!wantsJson(c)) return response;
  return c.json({
    ...{ filed: true, said: said.text, revision: filed.revision, state: filed.state },
    location: response.headers.get('Location') ?? '',
    edit: `${consoleRoot(c)}${page}/edit`,
    draft: draftName(c, filed.id),
  } satisfies EditorFiled);
}

function saidOf(
  {
    id,
    revision,
    state,
    scheduled_at,
  }: { id: string; revision: number; state: Story['state']; scheduled_at: string | null },
  before: Story | null,
): Omit<Notice, 'kind'> {
  const filed = `Filed as revision ${revision}`;
  const kept = revision > 1 ? ' Earlier revisions are kept: to undo this, file what they said again.' : '';
  if (state === before?.state) return { text: `${filed}${state === 'on_air' ? '; readers see it now' : ''}.${kept}` };
  const off = (label: string) => undo(`pieces/${id}/withdraw`, label, { reason: 'Put on air by mistake' });
  if (state === 'on_air') return { text: `${filed}, and on air.`, ...off('Take it off again') };
  if (state === 'scheduled')
    return { text: `${filed}, to go on air at ${scheduled_at} (UTC).`, ...off('Take it off the schedule') };
  return { text: `${filed}, a draft that nobody but the desk sees.` };
}

/** The form again, with all of its problems; with both versions, if the piece was revised since the form was made. */
async function refused(
  parts: ConsoleParts,
  c: ConsoleContext,
  edited: Edited,
  { status, body }: Answered,
): Promise<Response> {
  const { story, revision } = edited;
  const conflict =
    status === 409 && story !== null && story.revision !== revision ? conflictOf(parts, c, edited) : null;
  // The filing door names every problem of the fields; the response may have others, such as a taken slug.
  const check = await checked(parts, c, edited);
  const given: Problem[] =
    body.problems ??
    (status === 409 && story === null ? [{ field: 'slug', rule: 'taken', message: body.message }] : []);
  const known = new Set(check.problems.map(({ input, message }) => `${input} ${message}`));
  const own = given.map(problemAt).filter(({ input, message }) => !known.has(`${input} ${message}`));
  const problems = [...own, ...check.problems];
  if (wantsJson(c)) {
    const answer = {
      filed: false,
      message: body.message,
      problems,
      is_conflict: conflict !== null,
    } satisfies EditorFiled;
    return c.json(answer, status as 422);
  }
  const notice = conflict === null ? { ...refusalOf(body), problems: [] } : null;
  return show(parts, c, status, { ...edited, checked: { ...check, problems }, conflict, notice, is_sent: true });
}

function conflictOf(
  { app }: ConsoleParts,
  c: ConsoleContext,
  { story, fields, revision }: Edited,
): EditorConflict | null {
  if (story === null) return null;
  const archive = archiveOf(app, c);
  const base = archive.revisions(story.id).find((one) => one.revision === revision);
  const theirs = fieldsOf(story, '');
  return {
    revision: story.revision,
    filed_at: archive.generations(story.id).at(-1)?.filed_at ?? '',
    differences: differences(base === undefined ? theirs : fieldsOf(base, ''), theirs, fields),
  };
}

/** The form's fields, with those chosen from the newer revision, which the form now counts as made from. */
function mergedWith(
  { app }: ConsoleParts,
  c: ConsoleContext,
  edited: Edited,
  form: Awaited<ReturnType<typeof readEditorForm>>,
): Edited {
  const { story, fields } = edited;
  const number = revisionOf(form.text('theirs'), story);
  const theirs =
    story === null
      ? undefined
      : archiveOf(app, c)
          .revisions(story.id)
          .find(({ revision }) => revision === number);
  if (theirs === undefined) return edited;
  const takes = new Set(form.getAll('take').map(String));
  return { ...edited, fields: merged(fieldsOf(theirs, ''), fields, takes), revision: number };
}

/** Uploads the picture of the form, and puts it at the end of the text, or above it. */
async function uploadPicture(
  parts: ConsoleParts,
  c: ConsoleContext,
  edited: Edited,
  { form, place }: { form: Awaited<ReturnType<typeof readEditorForm>>; place: 'picture' | 'image' },
): Promise<Response> {
  const picture = form.file('picture');
  const alt = form.text('picture_alt');
  const fault =
    picture === null
      ? { field: 'picture', message: 'there is no picture; choose a file' }
      : alt === ''
        ? { field: 'picture_alt', message: 'the description is missing; say what the picture shows' }
        : null;
  if (picture === null || fault !== null)
    return pictureRefused(parts, c, edited, 422, fault ?? { field: 'picture', message: '' });
  const sent = new FormData();
  sent.set('alt', alt);
  sent.set('file', picture);
  const answer = await askApi(parts, c, { method: 'POST', path: 'media', bytes: { body: sent } });
  if (answer.status >= 400) {
    const { message, field } = answer.body;
    return pictureRefused(parts, c, edited, answer.status, {
      field: field === 'alt' ? 'picture_alt' : 'picture',
      message,
    });
  }
  const { path } = answer.body as { path: string };
  if (wantsJson(c)) return c.json({ path, alt }, 201);
  const { fields } = edited;
  const words = alt.replace(/[\\[\]]/g, '\\$&');
  const prose = `${fields.prose.trimEnd()}\n\n![${words}](${path})\n`;
  const withPicture = place === 'image' ? { image_src: path, image_alt: alt } : { prose };
  return checkAndShow(parts, c, 200, {
    ...edited,
    fields: { ...fields, ...withPicture },
    notice: { kind: 'done', text: `The picture is kept as ${path}. Nothing else was filed.` },
  });
}

async function pictureRefused(
  parts: ConsoleParts,
  c: ConsoleContext,
  edited: Edited,
  status: number,
  { field, message }: { field: string; message: string },
): Promise<Response> {
  if (wantsJson(c))
    return c.json({ message: `${message.charAt(0).toUpperCase()}${message.slice(1)}.`, field }, status as 422);
  const check = await checked(parts, c, edited);
  const problem = { input: field, label: 'Picture', message };
  return show(parts, c, status, {
    ...edited,
    checked: { ...check, problems: [problem, ...check.problems] },
    is_sent: true,
  });
}

const wantsJson = (c: ConsoleContext): boolean => /^application\/json\b/.test(c.req.header('accept') ?? '');

const draftName = (c: ConsoleContext, id: string | null): string => `${c.get('console').base} ${id ?? 'new'}`;

/** Sends the editor. Its text field makes a style sheet of its own, which a nonce admits. */
async function show(
  parts: ConsoleParts,
  c: ConsoleContext,
  status: number,
  { notice = null, ...shown }: Shown,
): Promise<Response> {
  const { story } = shown;
  const nonce = randomBytes(16).toString('base64');
  const view: ConsolePages['/console/write'] = {
    frame: frameOf(c, story === null ? 'Write a piece' : story.headline, notice),
    piece: story && { id: story.id, headline: story.headline, state: story.state, revision: story.revision },
    ...{ fields: shown.fields, revision: shown.revision, nonce, zones: ZONES },
    choices: {
      sections: c.get('site').paper.sections,
      personas: archiveOf(parts.app, c)
        .masthead()
        .map(({ slug, name }) => ({ slug, name })),
      kinds: KINDS,
    },
    checked: shown.checked ?? null,
    conflict: shown.conflict ?? null,
    is_sent: shown.is_sent ?? false,
    draft: draftName(c, story?.id ?? null),
  };
  const response = sendConsole(c, await parts.render('/console/write', view), status);
  const policy = response.headers.get('Content-Security-Policy') ?? '';
  response.headers.set(
    'Content-Security-Policy',
    policy.replace("style-src 'self'", `style-src 'self' 'nonce-${nonce}'`),
  );
  return response;
}
