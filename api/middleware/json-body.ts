import type { Context } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { createMiddleware } from 'hono/factory';
import { DuplicateMember, parseIJson } from '../../src/proof/i-json.ts';
import { MARKS_MAX, tooManyMarksAt } from '../../src/shared/combining-marks.ts';
import { Fault } from '../../src/shared/fault.ts';
import { firstUnstorable, hasUnstorable } from '../../src/shared/storable.ts';
import type { DeskEnv } from '../env.ts';
import { setHeader } from '../responses/headers.ts';
import { FORM_MAX, isMultipart, isUrlencoded } from './form-body.ts';

/** The largest body that a route accepts, in bytes (protocol 8.2). */
export const BODY_MAX = 1024 * 1024;
/** The maximum nesting of a body. No record is deeper than four levels. */
const DEPTH_MAX = 32;
/** The most members and elements in a body. A piece with the maximum number of cited facts has half as many. */
const VALUES_MAX = 10_000;

/** Throws `too_large` for a longer body. The bytes are also given in `words`. */
export const atMost = (maxSize: number, words: string, what = 'body', cure = 'send less') =>
  bodyLimit({
    maxSize,
    onError() {
      throw new Fault('too_large', `the ${what} is larger than ${maxSize} bytes (${words}); ${cure}`);
    },
  });

const limited = atMost(BODY_MAX, '1 MiB');
const limitedForm = atMost(FORM_MAX, '16 KiB', 'form');

/** Throws `too_large` for a body over the limit of its type, whether or not Content-Length announces it. */
export const limitBody = createMiddleware((c, next) => {
  // Checking for the body of a read would cost more than the rest of the request.
  if (c.req.method === 'GET' || c.req.method === 'HEAD') return next();
  // An upload is streamed, and has limits of its own; so has a message of MCP, which may contain one.
  if (c.req.method === 'POST' && /\/api\/v1\/media$|^\/[^/]+\/mcp$/.test(c.req.path)) return next();
  const type = c.req.header('content-type') ?? '';
  return isUrlencoded(type) || isMultipart(type) ? limitedForm(c, next) : limited(c, next);
});

/** Checks a JSON body before anything reads it. With `judgesZeros` the record's own rules name U+0000. */
export function jsonBody({ mayBeEmpty = false, valuesMax = VALUES_MAX, judgesZeros = false } = {}) {
  return createMiddleware<DeskEnv>(async (c, next) => {
    const bytes = new Uint8Array(await c.req.arrayBuffer());
    const { headers } = c.req.raw;
    if (mayBeEmpty && bytes.length === 0) {
      // The schema validator rejects an empty body that is declared as JSON.
      headers.delete('Content-Type');
    } else {
      // A missing body has no wrong type.
      if (bytes.length === 0 && c.req.header('content-type') === undefined) throw broken('is missing; send JSON');
      requireUncompressed(c);
      requireJson(c);
      parseJson(bytes, { valuesMax, judgesZeros });
      // The schema validator knows fewer spellings of the media type.
      headers.set('Content-Type', 'application/json');
    }
    await next();
  });
}

/** Throws `unsupported_media_type` for a compressed body (RFC 9110, section 15.5.16). */
export function requireUncompressed(c: Context): void {
  const coding = c.req.header('content-encoding') ?? '';
  if (/^(?:identity)?$/i.test(coding.trim())) return;
  setHeader(c, 'Accept-Encoding', 'identity');
  throw new Fault(
    'unsupported_media_type',
    `the body is compressed with ${JSON.stringify(coding.slice(0, 100))}; send it as it is, without Content-Encoding`,
  );
}

/** Whether a content type is that of JSON. */
export function isJson(type: string): boolean {
  return /^application\/(?:[\w.-]+\+)?json *(?:;|$)/i.test(type);
}

/** Throws `unsupported_media_type` unless the content type is JSON. */
function requireJson(c: Context): void {
  const type = c.req.header('content-type') ?? '';
  if (isJson(type)) return;
  throw new Fault(
    'unsupported_media_type',
    `the body is ${type === '' ? 'of no type' : JSON.stringify(type.slice(0, 100))}; send JSON, with Content-Type: application/json`,
  );
}

/** Parses a JSON body. Throws `invalid_request` with the position of a syntax error, or the path of a bad text. */
export function parseJson(bytes: Uint8Array, { valuesMax = VALUES_MAX, judgesZeros = false } = {}): unknown {
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw broken('is not in UTF-8; encode it in UTF-8');
  }
  const { depth, values } = measured(text);
  if (depth > DEPTH_MAX) throw broken(`is nested deeper than ${DEPTH_MAX} levels; send a flatter value`);
  if (values > valuesMax) throw broken(`has more than ${valuesMax} members and elements; send fewer`);
  const value = parsed(text);
  const isEscaped = /\\u/.test(text);
  const spelled = isEscaped ? JSON.stringify(value) : text;
  if (isEscaped && hasUnstorable(spelled)) {
    const found = firstUnstorable(value, { zeros: !judgesZeros });
    const field = found?.path || 'body';
    if (found !== null) throw new Fault('invalid_request', `${field} ${found.why}`, { field });
  }
  // Values are normalized when they are parsed, which takes time for every combining mark.
  if (tooManyMarksAt(spelled) !== null) {
    throw broken(
      `has more than ${MARKS_MAX} combining marks or invisible characters in a row; remove those that no reader sees`,
    );
  }
  return value;
}

function parsed(text: string): unknown {
  try {
    return parseIJson(text);
  } catch (error) {
    // The later of two duplicate members would be signed, while another reader, such as a proxy that inspects bodies,
    // saw the first.
    if (error instanceof DuplicateMember) throw broken(`${error.message}; name it once`);
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause.message : String(error);
    throw broken(`is not JSON (${cause.slice(0, 200)}); correct it`);
  }
}

function broken(what: string): Fault {
  return new Fault('invalid_request', `the body ${what}`, { field: 'body' });
}

/** The nesting depth of brackets outside strings, and the number of values by counting commas. */
function measured(text: string): { depth: number; values: number } {
  let depth = 0;
  let deepest = 0;
  let commas = 0;
  let isInString = false;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === 0x22) isInString = !isInString;
    else if (isInString) {
      if (code === 0x5c) at++;
    } else if (code === 0x2c) commas++;
    else if (code === 0x5b || code === 0x7b) deepest = Math.max(deepest, ++depth);
    else if (code === 0x5d || code === 0x7d) depth--;
  }
  return { depth: deepest, values: commas + 1 };
}
