import { rmSync } from 'node:fs';
import { PassThrough, Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Busboy, type BusboyInstance } from '@fastify/busboy';
import { type Received, receive, tooLarge } from '../../../src/desk/media/upload.ts';
import { extensionOf, formatOf, MEDIA_FORMATS, properType, VIDEO_BYTES_MAX } from '../../../src/media/media-formats.ts';
import { normalized } from '../../../src/shared/combining-marks.ts';
import { caught, Fault, messageOf } from '../../../src/shared/fault.ts';
import { isLine, shownProblems } from '../../../src/shared/shown-text.ts';
import type { PaperContext } from '../../env.ts';
import { type Acting, actingIn } from '../../middleware/acting.ts';
import { isMultipart } from '../../middleware/form-body.ts';
import { requireUncompressed } from '../../middleware/json-body.ts';

/** The longest path, in characters, and the longest description, in UTF-16 units, as in a piece. */
const PATH_MAX = 200;
const ALT_MAX = 500;
/** The longest field of a form, in bytes. */
const FIELD_BYTES = 4_096;
/** Names of folders and files: none begins with a dot, so none is hidden or leads upwards. */
const PATH = /^media(?:\/[A-Za-z0-9][A-Za-z0-9._-]*)+$/;
/** The media types that clients send when they do not know the type. */
const UNKNOWN_TYPE = /^(?:application\/octet-stream|binary\/octet-stream)?$/;

/** An upload: the file, received and on disk, and where it is to be. `alt` is null when it was not sent. */
export interface Upload {
  path: string;
  alt: string | null;
  received: Received;
}

/** Receives an upload, as a form or as its bytes. When it throws a fault, nothing is left on disk. */
export function receiveUpload(c: PaperContext, folder: string): Promise<Upload> {
  requireUncompressed(c);
  const type = c.req.header('content-type') ?? '';
  if (plain(type) === 'multipart/form-data' && !/;\s*boundary=/i.test(type)) {
    const cure = 'leave the header to the client, which adds one, as curl -F does';
    throw invalid('Content-Type', `the Content-Type multipart/form-data has no boundary; ${cure}`);
  }
  return isMultipart(type) ? fromForm(c, folder, type) : fromBytes(c, folder, plain(type));
}

async function fromBytes(c: PaperContext, folder: string, type: string): Promise<Upload> {
  const asked = c.req.header('x-media-path');
  const path = asked === undefined ? null : checkedPath(asked, 'X-Media-Path');
  requireType(type, path);
  const alt = decodedAlt(c.req.header('x-media-alt'));
  const max = (path === null ? MEDIA_FORMATS[extensionOf(type) ?? ''] : formatOf(path))?.bytes_max ?? 0;
  requireLength(c, max);
  const received = await receive(bodyOf(c), { folder, max });
  return { path: path ?? ownPath(received, type), alt, received };
}

async function fromForm(c: PaperContext, folder: string, type: string): Promise<Upload> {
  requireLength(c, VIDEO_BYTES_MAX + 64 * 1024);
  const parts = new FormParts(formOf(type), folder, actingIn(c.env)?.readFields);
  const received = await parts.read(bodyOf(c));
  try {
    const asked = parts.fields.get('path');
    const path = asked === undefined ? null : checkedPath(asked, 'path');
    const named = `media/${parts.name}`;
    const own = path ?? (isPath(named) && formatOf(named) !== null ? named : null);
    const kind = plain(parts.type);
    requireType(kind, own);
    const alt = parts.fields.get('alt') ?? null;
    return { path: own ?? ownPath(received, kind), alt: alt === null ? null : checkedAlt(alt, 'alt'), received };
  } catch (error) {
    rmSync(received.file, { force: true });
    throw error;
  }
}

function formOf(type: string): BusboyInstance {
  try {
    const limits = { files: 1, fields: 10, parts: 20, fieldSize: FIELD_BYTES, fieldNameSize: 100, headerPairs: 20 };
    return new Busboy({ headers: { 'content-type': type }, limits });
  } catch (error) {
    throw broken(error);
  }
}

/** The parts of a form, of which one is the file. */
class FormParts {
  readonly fields = new Map<string, string>();
  name = '';
  type = '';
  readonly #form: BusboyInstance;
  #file: Readable | null = null;
  #received: Promise<Received> | null = null;
  #fault: Fault | null = null;
  readonly #stopping = new AbortController();

  /** `readFields` is given the fields that come before the file, and may refuse them. */
  constructor(form: BusboyInstance, folder: string, readFields?: Acting['readFields']) {
    this.#form = form;
    // Errors after reading was abandoned have no other listener, and would end the process.
    form.on('error', () => {});
    form.on('field', (name, value, _isNameCut, isCut) => {
      if (isCut) this.#fail(`is longer than ${FIELD_BYTES} bytes; shorten it`, name);
      // Busboy replaces what it cannot decode by U+FFFD.
      else if (value.includes('\u{FFFD}')) this.#fail('is not UTF-8; send it in UTF-8', name);
      if (this.fields.has(name)) this.#fail('came more than once; send it once', name);
      this.fields.set(name, value);
    });
    form.on('file', (name, stream, fileName, _encoding, type) => {
      if (name !== 'file') this.#fail('is not the field of the file; call it file', name);
      this.#file = stream;
      stream.on('error', () => {});
      const refused = caught(Fault, () => readFields?.(this.fields));
      if (refused instanceof Fault) {
        this.#fault ??= refused;
        this.#stopping.abort();
        stream.resume();
        return;
      }
      this.name = fileName;
      this.type = type;
      // The path may come after the file; without it, the file's own name or its type decides the format.
      const format = formatOf(this.fields.get('path') ?? fileName) ?? MEDIA_FORMATS[extensionOf(plain(type)) ?? ''];
      this.#received = receive(stream, { folder, max: format?.bytes_max ?? VIDEO_BYTES_MAX });
      // Stop reading a file that is too large.
      this.#received.catch(() => this.#stopping.abort());
    });
    for (const limit of ['filesLimit', 'fieldsLimit', 'partsLimit'] as const) {
      form.on(limit, () => this.#fail('has too many parts; send one file', 'body'));
    }
  }

  /** Reads the form to its end. Throws for a broken form and for a broken part; then nothing is left on disk. */
  async read(body: Readable): Promise<Received> {
    let fault: unknown = null;
    await pipeline(body, this.#form, { signal: this.#stopping.signal }).catch((error: unknown) => {
      fault = error;
      // Busboy does not close the part that was cut off.
      this.#file?.destroy(error instanceof Error ? error : new Error('cut off'));
    });
    const received = await this.#received?.catch((error: unknown) => {
      throw fault === null || error instanceof Fault ? error : broken(fault);
    });
    fault = this.#fault ?? fault;
    if (received !== undefined && fault === null) return received;
    if (received !== undefined) rmSync(received.file, { force: true });
    if (fault === null) throw invalid('file', 'file is missing; send it in a part called file');
    throw fault instanceof Fault ? fault : broken(fault);
  }

  #fail(what: string, field: string): void {
    this.#fault ??= invalid(field, `${field} ${what}`);
  }
}

/** The body as a stream, never whole in memory. Destroying it does not close the connection, which needs a response. */
function bodyOf(c: PaperContext): Readable {
  const acting = actingIn(c.env);
  // A request in process has a body of its own, unless it leaves that of a page's form to this route.
  if (acting !== undefined && acting.readFields === undefined) return Readable.from(c.req.raw.body ?? []);
  const { incoming } = c.env;
  const body = new PassThrough();
  const cut = (): void => {
    if (!incoming.readableEnded) body.destroy(Object.assign(new Error('the caller has gone'), { code: 'ECONNRESET' }));
  };
  incoming.once('close', cut);
  // The rest of the body is drained when the connection closes.
  body.once('close', () => {
    incoming.off('close', cut);
    incoming.unpipe(body);
  });
  return incoming.pipe(body);
}

/** Rejects an upload whose Content-Length is too large, before reading a byte. */
function requireLength(c: PaperContext, max: number): void {
  if (Number(c.req.header('content-length') ?? 0) > max) throw tooLarge(max);
}

function requireType(type: string, path: string | null): void {
  const wanted = path === null ? null : formatOf(path)?.media_type;
  const isKnown = extensionOf(type) !== null;
  if (wanted === null ? isKnown : UNKNOWN_TYPE.test(type) || type === wanted) return;
  const cure =
    wanted === null
      ? `send it as one of ${[...new Set(Object.values(MEDIA_FORMATS).map(({ media_type }) => media_type))].join(', ')}, or give its path`
      : `its path is that of a file of type ${wanted}; correct the type or the ending of the path`;
  throw new Fault('unsupported_media_type', `the file is sent as ${JSON.stringify(type.slice(0, 100))}: ${cure}`);
}

const isPath = (path: string): boolean => path.length <= PATH_MAX && PATH.test(path);

function checkedPath(path: string, field: string): string {
  const cure = `name the file below media/, as in media/art/quay.jpg: letters, digits, dots, hyphens and underscores, ${PATH_MAX} characters at most`;
  if (!isPath(path)) throw invalid(field, `${field} ${JSON.stringify(path.slice(0, 80))} is not a path; ${cure}`);
  if (formatOf(path) !== null) return path;
  const endings = Object.keys(MEDIA_FORMATS).join(' ');
  throw new Fault(
    'unsupported_media_type',
    `${field} ${JSON.stringify(path)} is not in a supported format; end it with one of ${endings}`,
  );
}

/** A path for a file that came without one. */
function ownPath({ digest }: Received, type: string): string {
  return `media/uploads/${digest.slice('sha256:'.length, 'sha256:'.length + 16)}${extensionOf(type) ?? ''}`;
}

/** Headers hold no Unicode, so the text is percent-encoded. */
function decodedAlt(header: string | undefined): string | null {
  if (header === undefined) return null;
  try {
    return checkedAlt(decodeURIComponent(header), 'X-Media-Alt');
  } catch (error) {
    if (error instanceof Fault) throw error;
    throw invalid('X-Media-Alt', 'X-Media-Alt is not percent-encoded UTF-8; percent-encode it');
  }
}

function checkedAlt(text: string, field: string): string {
  const alt = normalized(text).trim();
  const unshown = shownProblems(field, alt)[0]?.message;
  const why =
    alt === '' || alt.length > ALT_MAX || !isLine(alt)
      ? `must be one line of 1 to ${ALT_MAX} characters; say what the picture shows`
      : unshown;
  if (why === undefined) return alt;
  throw invalid(field, `${field}: ${why}`);
}

function invalid(field: string, message: string): Fault {
  return new Fault('invalid_request', message, { field });
}

function broken(error: unknown): Fault {
  const why = messageOf(error).slice(0, 200);
  return invalid('body', `the body is not a whole multipart/form-data (${why}); send it again`);
}

/** A media type without its parameters, by its proper name. */
const plain = (type: string): string => properType((type.split(';', 1)[0] ?? '').trim().toLowerCase());
