import { Fault } from '../../src/fault.ts';

/** The largest form that is read, in bytes: the longest form takes a list of hostnames. */
export const FORM_MAX = 16 * 1024;
/** How many fields a form may have; the largest has one for each section of a paper. */
const FIELDS_MAX = 1_000;

const FORM = /^application\/x-www-form-urlencoded *(?:;|$)/i;
const MULTIPART = /^multipart\/form-data *;/i;

/** Whether a content type is that of a form, as a page's own sends it. */
export function isUrlencoded(type: string): boolean {
  return FORM.test(type);
}

export function isMultipart(type: string): boolean {
  return MULTIPART.test(type);
}

/**
 * Reads the fields of a form. Throws `invalid_request` for one of too many: they
 * are counted first, because `URLSearchParams` takes time that grows with the
 * square of the fields without a `=`.
 */
export function formFields(text: string): URLSearchParams {
  let fields = 1;
  for (let at = text.indexOf('&'); at !== -1; at = text.indexOf('&', at + 1)) fields++;
  if (fields <= FIELDS_MAX) return new URLSearchParams(text);
  throw new Fault('invalid_request', `the form has ${fields} fields, more than ${FIELDS_MAX}; send those it needs`, {
    field: 'body',
  });
}
