import { z } from '@hono/zod-openapi';
import type { Handler } from 'hono';
import type { Position } from '../../src/desk/archive.ts';
import type { Level } from '../../src/desk/papers/keys.ts';
import { isDay } from '../../src/proof/time.ts';
import type { DeskEnv, PaperContext, PaperEnv } from '../env.ts';
import { jsonBody } from '../middleware/json-body.ts';
import { faults, IDEMPOTENCY } from '../openapi/responses.ts';
import { type OperationSpec, operationsOf, type Route } from '../openapi/route.ts';
import { cursorOf, readCursor } from '../responses/paging.ts';

/** The lowest key level that a route requires. `public` needs no key; `token` needs the link from a mail. */
export type Access = 'public' | 'token' | Level;

export type PaperRoute = Route<PaperEnv, Access>;

/** Makes the operations of a paper's API that the document lists under a tag. */
export const operationsUnder = (tag: string) => operationsOf<PaperEnv>(tag);

/** An operation that writes: it takes an Idempotency-Key, and its JSON body is checked first unless `before` says how. */
export function writes<S extends OperationSpec>(spec: S): S {
  const { request, before, responses } = spec;
  const hasBody = request?.body !== undefined;
  return {
    ...spec,
    before: before ?? (hasBody ? [jsonBody()] : []),
    request: { headers: IDEMPOTENCY, ...request },
    responses: { ...(hasBody || before ? faults(413, 415, 422) : faults(413, 422)), ...responses },
  };
}

/** Answers an address of the host, or calls `next` for one that it does not serve. */
export type HostHandler = Handler<DeskEnv>;

export type HostRoute = readonly [method: 'GET', path: string, access: Access, handler: HostHandler];

/** The parameter of a path, which is described in the document. */
export const pathParam = <Name extends string>(name: Name, description: string, example?: string) =>
  z.object(under(name, z.string().openapi({ description, ...(example === undefined ? {} : { example }) })));

export const idParam = pathParam('id', 'A piece’s id or its slug.', 'year-2038');

export const dayParam = (description: string) =>
  z.object({
    day: z
      .string()
      .refine(isDay, 'must be a day of the calendar, as in 2026-11-20')
      .openapi({ description, format: 'date', example: '2026-11-20' }),
  });

/** The cursor of a list in the order of its ids or names. */
export const IdCursor = z.tuple([z.string().max(40)]);

const AirCursor = z.tuple([z.number().int().min(-8.64e15).max(8.64e15), z.string().max(40)]);

/** The cursor of a list of pieces on air. */
export const airCursor = ({ published_at, id }: Position): string => cursorOf([published_at, id]);

/** The position of such a cursor; undefined without one. Throws `invalid_request`. */
export function airPosition(cursor: string | undefined): Position | undefined {
  const [published_at, id] = readCursor(AirCursor, cursor);
  return published_at === undefined || id === undefined ? undefined : { published_at, id };
}

/** The schema of a list (protocol 8.3), with additional members. */
export function listSchema<Name extends string, T extends z.ZodType, More extends z.ZodRawShape = Record<never, never>>(
  id: string,
  name: Name,
  row: T,
  more?: More,
) {
  const head = {
    desk: z.string().openapi({ description: 'The paper’s slug.' }),
    nameplate: z.string(),
    count: z.int().min(0).openapi({ description: 'Rows in this response.' }),
  };
  const next_cursor = z.string().nullable().openapi({ description: 'The cursor of the next page, or null.' });
  return z.object({ ...head, ...under(name, z.array(row)), next_cursor, ...more }).openapi(id);
}

/** The members that every list has. */
export function listOf<Name extends string, T>(c: PaperContext, name: Name, rows: T[], next: string | null = null) {
  const { slug, paper } = c.get('site');
  return { desk: slug, nameplate: paper.nameplate, count: rows.length, ...under(name, rows), next_cursor: next };
}

/** An object with one member. TypeScript widens the type of a computed key. */
function under<Name extends string, T>(name: Name, value: T): Record<Name, T> {
  return { [name]: value } as Record<Name, T>;
}
