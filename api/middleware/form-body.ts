import { Fault } from '../../src/shared/fault.ts';
import { unstorable } from '../../src/shared/storable.ts';

/** The largest accepted form, in bytes. The longest form has a list of hostnames. */
export const FORM_MAX = 16 * 1024;
/** The most fields in a form. The largest form has one per section of a paper. */
const FIELDS_MAX = 1_000;

const FORM = /^application\/x-www-form-urlencoded *(?:;|$)/i;
const MULTIPART = /^multipart\/form-data *;/i;

/** Whether a content type is that of a URL-encoded form, as the pages' own forms send it. */
export function isUrlencoded(type: string): boolean {
  return FORM.test(type);
}

export function isMultipart(type: string): boolean {
  return MULTIPART.test(type);
}

/** Parses a form. Counts its fields first: `URLSearchParams` takes quadratic time for those without `=`. */
export function formFields(text: string): URLSearchParams {
  let fields = 1;
  for (let at = text.indexOf('&'); at !== -1; at = text.indexOf('&', at + 1)) fields++;
  if (fields > FIELDS_MAX) {
    throw new Fault('invalid_request', `the form has ${fields} fields, more than ${FIELDS_MAX}; send those it needs`, {
      field: 'body',
    });
  }
  const form = new URLSearchParams(text);
  for (const [field, value] of form) {
    const why = unstorable(value);
    if (why !== null) throw new Fault('invalid_request', `${field} ${why}`, { field });
  }
  return form;
}
