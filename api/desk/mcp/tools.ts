import { z } from '@hono/zod-openapi';
import type { StandardSchemaWithJSON } from '@modelcontextprotocol/server';
import { Front } from '../../../src/desk/papers/front.ts';
import { type AccessKey, reaches } from '../../../src/desk/papers/keys.ts';
import { TermsRecord } from '../../../src/desk/papers/terms.ts';
import { DeskStory, FullStory } from '../../../src/desk/story.ts';
import { FACT_STATUSES } from '../../../src/proof/fact-note.ts';
import { Fault } from '../../../src/shared/fault.ts';
import type { ToolText } from '../../mcp/server.ts';
import { ErrorBody } from '../../openapi/responses.ts';
import { CitedFactList } from '../reading/cited-facts.ts';
import { FactList } from '../reading/facts.ts';
import { SearchResult } from '../reading/search.ts';
import type { Access } from '../route.ts';
import { DraftList } from '../writing/config.ts';
import { Aired, Airing, Filed, NewStory, Revision, Withdrawal } from '../writing/filing.ts';
import { Uploaded } from '../writing/media.ts';
import { Previewed } from '../writing/preview.ts';

/** The request that a tool makes of its route: `path` is below the paper's root, objects are sent as JSON. */
export interface ToolRequest {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  path: string;
  headers?: Record<string, string>;
  body?: object | Buffer;
}

/** A tool of a paper's MCP server: one request to a route of its API, and its description for agents. */
export interface DeskTool extends ToolText {
  /** The access of its route. */
  access: Exclude<Access, 'token'>;
  /** The route's request for these arguments. Throws `invalid_request`. */
  request(given: Record<string, unknown>): ToolRequest;
  /** The part of its route's response that a tool returns; all of it by default. */
  shown?(body: Record<string, unknown>): Record<string, unknown>;
}

/** The largest file that `upload_media` takes, in bytes. */
export const UPLOAD_MAX = 4 * 1024 * 1024;

const READS = { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false };
/** Tools whose effects readers may see, and no later call removes from the log. */
const WRITES = { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: true };

const idempotency_key = z
  .string()
  .optional()
  .describe('A name for this write, such as a UUID. A repeat within 24 hours is not carried out twice.');
const id = z.string().min(1).max(200).describe('The piece’s id or its slug.');
const cursor = z
  .string()
  .optional()
  .describe('next_cursor of the previous response; keep the other arguments unchanged.');
const rows = (most: number) => z.int().min(1).max(most).optional().describe(`Maximum number of rows, up to ${most}.`);

interface Parts<I extends z.ZodObject, O extends z.ZodType>
  extends Omit<DeskTool, 'input' | 'output' | 'request' | 'annotations'> {
  /** The schema of its arguments. */
  input: I;
  output: O;
  annotations?: DeskTool['annotations'];
  request(given: z.output<I>): ToolRequest;
}

/** The schema of a tool's result: its route's response or error. Clients check results against it. */
const resultOf = (output: z.ZodType) => z.union([output, ErrorBody]);

/**
 * A tool. With `own`, `input` only describes the arguments, and the route checks them, so that the filing door names
 * every problem at once; `own` are the arguments that the tool itself needs to make the request.
 */
function tool<I extends z.ZodObject, O extends z.ZodType>(parts: Parts<I, O>, own?: z.ZodObject): DeskTool {
  const { input, output, annotations = READS, ...rest } = parts;
  const checked = own === undefined ? input : checkedBy(own.loose(), input);
  return { ...rest, annotations, input: checked, output: resultOf(output) } as never;
}

/** A schema that is shown to agents while another one checks what they send. */
function checkedBy(own: z.ZodObject, shown: z.ZodObject): StandardSchemaWithJSON {
  return { '~standard': { ...shown['~standard'], validate: own['~standard'].validate } };
}

function withQuery(path: string, query: Record<string, unknown>): string {
  const given = Object.entries(query).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]]));
  return given.length === 0 ? path : `${path}?${new URLSearchParams(given)}`;
}

const storyPath = (name: string, rest = '') => `/api/v1/stories/${encodeURIComponent(name)}${rest}`;

const keyed = (name: string | undefined): Pick<ToolRequest, 'headers'> =>
  name === undefined ? {} : { headers: { 'Idempotency-Key': name } };

const Named = z.object({ idempotency_key });
const OfPiece = z.object({ id, idempotency_key });

/** Every tool, in list order. */
export const TOOLS: readonly DeskTool[] = [
  tool({
    name: 'search_stories',
    title: 'Search the pieces on air',
    description:
      'Finds up to 30 pieces on air whose headline, dek or prose contains each of one to four words, or a word that starts with it, newest first. Use it before you write: a paper corrects its own pieces rather than repeating them.',
    access: 'public',
    input: z.strictObject({
      q: z.string().min(1).max(120).describe('One to four words.'),
      section: z.string().optional().describe('Only pieces in this section of the paper.'),
      year: z
        .string()
        .regex(/^\d{4}$/)
        .optional()
        .describe('Only pieces that first went on air in this year, such as 2026.'),
    }),
    output: SearchResult,
    request: (filter) => ({ method: 'GET', path: withQuery('/api/v1/search', filter) }),
  }),
  tool({
    name: 'read_story',
    title: 'Read one piece',
    description:
      'A piece with its prose, cited facts, corrections, revision and content hash. [^N] in the prose points at entry N of cited_facts. With a key of the paper also drafts and scheduled pieces, with their state. A withdrawn piece answers with the error withdrawn, its time and its reason.',
    access: 'public',
    input: z.strictObject({ id }),
    output: z.union([DeskStory, FullStory]),
    request: ({ id }) => ({ method: 'GET', path: storyPath(id) }),
  }),
  tool({
    name: 'read_front',
    title: 'Read the front page',
    description:
      'The front page as data: the newest pieces by section, what is placed first, the paper’s settings with its sections and source_floor (how many publishers a piece needs), and the newsroom: the personas whose slug a piece takes as byline.',
    access: 'public',
    input: z.strictObject({}),
    output: Front,
    request: () => ({ method: 'GET', path: '/api/v1/front' }),
  }),
  tool({
    name: 'find_facts',
    title: 'Find facts',
    description:
      'Searches the paper’s fact record, by words, publisher and status: each fact in its newest version, signed, with the claim_key by which a piece cites it. A fact whose status is retracted does not hold. With scope pieces it searches what pieces on air cite instead, 200 pieces a call, the newest first: entries as they were filed, including those without a key. Continue with next_cursor.',
    access: 'public',
    input: z.strictObject({
      scope: z.enum(['record', 'pieces']).optional().describe('record (the default) or pieces.'),
      q: z.string().min(1).max(120).optional().describe('One to four words of the statement, publisher or document.'),
      source: z
        .string()
        .min(1)
        .max(200)
        .optional()
        .describe('A publisher; with scope pieces, part of its name is enough.'),
      status: z.enum(FACT_STATUSES).optional().describe('With scope record: only facts with this status.'),
      limit: rows(100),
      cursor,
    }),
    output: z.union([FactList, CitedFactList]),
    request: ({ scope = 'record', ...query }) => ({
      method: 'GET',
      path: withQuery(scope === 'record' ? '/api/v1/facts' : '/api/v1/cited-facts', query),
    }),
  }),
  tool({
    name: 'list_drafts',
    title: 'List what is not on air',
    description: 'Pieces that are not on air, newest first, each with its state: draft, scheduled or withdrawn.',
    access: 'read',
    input: z.strictObject({ limit: rows(200), cursor }),
    output: DraftList,
    request: (query) => ({ method: 'GET', path: withQuery('/api/v1/drafts', query) }),
  }),
  tool({
    name: 'read_terms',
    title: 'Read the agreement for agents',
    description:
      'The agreement that an agent’s writes need, and whether the paper has signed it. It binds you. While signed is false every write is refused with terms_unsigned, and the paper’s operator must sign.',
    access: 'read',
    input: z.strictObject({}),
    output: TermsRecord,
    request: () => ({ method: 'GET', path: '/api/v1/agent/terms' }),
  }),
  tool(
    {
      name: 'check_piece',
      title: 'Check a piece against the door',
      description:
        'Says what the filing door finds in a piece, complete or not, without filing it: every problem with its field, rule and message. An empty list means that file_piece would take it. Check until it is empty, then file. hints name facts of the record that an entry without claim_key nearly repeats: give the key alone if it is the same fact.',
      access: 'agent',
      input: NewStory,
      output: Previewed.pick({ problems: true, hints: true }),
      request: (body) => ({ method: 'POST', path: '/api/v1/preview', body }),
      shown: ({ html: _page, ...body }) => body,
    },
    z.object({}),
  ),
  tool(
    {
      name: 'file_piece',
      title: 'File a piece',
      description:
        'Files a piece and signs its receipt: a draft unless air is true (on air now) or a future time. A refusal has the error refused_by_door and lists every problem; then nothing was filed. Keep the id and revision from the response. When in doubt, file a draft.',
      access: 'agent',
      input: NewStory.safeExtend({ idempotency_key }),
      output: Filed,
      annotations: WRITES,
      request: ({ idempotency_key: name, ...body }) => ({
        method: 'POST',
        path: '/api/v1/stories',
        body,
        ...keyed(name),
      }),
    },
    Named,
  ),
  tool(
    {
      name: 'revise_piece',
      title: 'Revise or correct a piece',
      description:
        'Files a new revision: the whole piece again, with revision (the one you changed) and, when a fact was wrong, correction: what was wrong and what is right, for readers. A piece on air shows it at once; earlier revisions stay readable. The error conflict means that somebody filed a newer revision: read it and make the change again.',
      access: 'agent',
      input: Revision.safeExtend({ id, idempotency_key }),
      output: Filed,
      annotations: { ...WRITES, destructiveHint: true },
      request: ({ id, idempotency_key: name, ...body }) => ({
        method: 'PUT',
        path: storyPath(id),
        body,
        ...keyed(name),
      }),
    },
    OfPiece,
  ),
  tool(
    {
      name: 'schedule_piece',
      title: 'Put a piece on air, now or later',
      description:
        'Puts a draft on air now, or at a future time. A piece that is on air is public, and its receipt is in the transparency log for good.',
      access: 'agent',
      input: Airing.safeExtend({ id, idempotency_key }),
      output: Aired,
      annotations: { ...WRITES, idempotentHint: true },
      request: ({ id, idempotency_key: name, ...body }) => ({
        method: 'POST',
        path: storyPath(id, '/airing'),
        body,
        ...keyed(name),
      }),
    },
    OfPiece,
  ),
  tool({
    name: 'upload_media',
    title: 'Upload a picture or a sound',
    description: `Uploads a file of up to 4 MiB (a larger one goes to POST /api/v1/media): JPEG, PNG, WebP, AVIF, GIF, SVG, MP3, M4A, MP4 or WebVTT. Use the path from the response as a piece’s image.src or as a Markdown picture in its prose. It is public at once. Publish only what you have the right to publish.`,
    access: 'agent',
    input: z.strictObject({
      data: z
        .string()
        .min(1)
        .max(Math.ceil(UPLOAD_MAX / 3) * 4 + 200)
        .describe('The bytes in base64, or a data: URI with its media type. 4 MiB at most before encoding.'),
      media_type: z
        .string()
        .max(100)
        .optional()
        .describe('Such as image/png; not needed with a data: URI, which contains it.'),
      path: z.string().max(200).optional().describe('The path to store it at, such as media/art/quay.jpg.'),
      alt: z.string().max(500).optional().describe('What the picture shows, in one line.'),
      idempotency_key,
    }),
    output: Uploaded,
    annotations: { ...WRITES, idempotentHint: true },
    request: ({ data, media_type, path, alt, idempotency_key: name }) => {
      const { type, bytes } = decoded(data, media_type);
      return {
        method: 'POST',
        path: '/api/v1/media',
        body: bytes,
        headers: {
          ...keyed(name).headers,
          'Content-Type': type,
          ...(path === undefined ? {} : { 'X-Media-Path': path }),
          ...(alt === undefined ? {} : { 'X-Media-Alt': encodeURIComponent(alt.toWellFormed()) }),
        },
      };
    },
  }),
  tool(
    {
      name: 'withdraw_piece',
      title: 'Withdraw a piece',
      description:
        'Takes a piece off the air, or off its schedule, with a reason that readers see. Its page becomes a notice. Correct a piece that can be corrected: revise_piece.',
      access: 'admin',
      input: Withdrawal.safeExtend({ id, idempotency_key }),
      output: Aired,
      annotations: { ...WRITES, destructiveHint: true },
      request: ({ id, idempotency_key: name, ...body }) => ({
        method: 'DELETE',
        path: storyPath(id, '/airing'),
        body,
        ...keyed(name),
      }),
    },
    OfPiece,
  ),
];

/** Whether a caller with this key may use a tool. */
export const mayUse = (key: AccessKey | null, { access }: Pick<DeskTool, 'access'>): boolean =>
  access === 'public' || (key !== null && reaches(key.level, access));

const DATA_URI = /^data:([^,;]{0,100})(?:;[^,]{0,100})?,/;
const BASE64 = /^[A-Za-z0-9+/_-]*={0,2}$/;

/** The bytes of an upload, and their type. Throws `invalid_request`, `too_large`. */
function decoded(data: string, mediaType?: string): { type: string; bytes: Buffer } {
  const [head = '', own = ''] = DATA_URI.exec(data) ?? [];
  const isEncoded = head === '' || head.endsWith(';base64,');
  const text = data.slice(head.length).replace(/\s+/g, '');
  if (!isEncoded || text === '' || !BASE64.test(text)) {
    const message =
      'data is not base64; encode the file’s bytes in base64, or send a data: URI such as data:image/png;base64,…';
    throw new Fault('invalid_request', message, { field: 'data' });
  }
  const bytes = Buffer.from(text, 'base64');
  if (bytes.length > UPLOAD_MAX) {
    throw new Fault(
      'too_large',
      `data has ${bytes.length} bytes, more than ${UPLOAD_MAX} (4 MiB); make the picture smaller, or send it to POST /api/v1/media`,
      { field: 'data' },
    );
  }
  return { type: mediaType ?? (own === '' ? 'application/octet-stream' : own), bytes };
}
