import { Fault } from '../../../src/shared/fault.ts';
import { requireFormToken } from '../../../src/shared/session.ts';
import { isMultipart } from '../../middleware/form-body.ts';
import { atMost } from '../../middleware/json-body.ts';
import { type ConsoleContext, ownConsoleForm } from './session.ts';

/** The largest form of the editor, in bytes: a picture of 20 MiB, and the text. */
const EDITOR_MAX = 24 * 1024 * 1024;
/** The most fields: a piece with the most sources has 4,000. */
const FIELDS_MAX = 6_000;

/** The guards of the editor's form, before its body is read. */
export const editorGuards = [ownConsoleForm, atMost(EDITOR_MAX, '24 MiB', 'form')];

/** A form with a file, as the editor sends it. */
class EditorForm {
  readonly #form: FormData;

  constructor(form: FormData) {
    this.#form = form;
  }

  /** The value of a field, trimmed; '' when it is absent. */
  text(name: string): string {
    const value = this.#form.get(name);
    return typeof value === 'string' ? value.trim() : '';
  }

  getAll(name: string): unknown[] {
    return this.#form.getAll(name);
  }

  /** The file of a field; null when none was chosen. */
  file(name: string): File | null {
    const value = this.#form.get(name);
    return value instanceof File && value.size > 0 ? value : null;
  }
}

/** Reads the editor's form. Throws `wrong_origin` unless it has the session's form token, in the field `form`. */
export async function readEditorForm(c: ConsoleContext): Promise<EditorForm> {
  const type = c.req.header('content-type') ?? '';
  if (!isMultipart(type)) {
    throw new Fault(
      'unsupported_media_type',
      `the body is ${JSON.stringify(type.slice(0, 100))}; send multipart/form-data, as the editor does`,
    );
  }
  const form = await c.req.formData().catch((error: unknown) => {
    if (error instanceof Fault) throw error;
    throw new Fault('invalid_request', 'the form is not a whole multipart/form-data; send it again', { field: 'body' });
  });
  const fields = [...form.keys()].length;
  if (fields > FIELDS_MAX) {
    throw new Fault('invalid_request', `the form has ${fields} fields, more than ${FIELDS_MAX}; send those it needs`, {
      field: 'body',
    });
  }
  const read = new EditorForm(form);
  requireFormToken(c.get('token'), read.text('form'));
  return read;
}
