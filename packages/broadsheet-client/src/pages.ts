import { ApiError } from './api-error.ts';

/** A page of a list. */
interface Page {
  next_cursor?: string | null;
}

interface Read<Data> {
  data?: Data;
  error?: unknown;
  response: Response;
}

/**
 * The pages of a list, one after the other, until there is no next cursor. `read` reads one page from a cursor, which is
 * undefined for the first: `pages((cursor) => desk.GET('/api/v1/stories', { params: { query: { cursor } } }))`. Throws an
 * ApiError when a page cannot be read.
 */
export async function* pages<Data extends Page>(
  read: (cursor: string | undefined) => Promise<Read<Data>>,
): AsyncGenerator<Data, void, undefined> {
  let cursor: string | undefined;
  do {
    const { data, error, response } = await read(cursor);
    if (data === undefined) throw new ApiError(response.status, error);
    yield data;
    cursor = data.next_cursor ?? undefined;
  } while (cursor !== undefined);
}

/** The rows of all pages of a list; `member` names them, such as `stories` or `items`. */
export async function* rows<Member extends string, Row>(
  member: Member,
  read: (cursor: string | undefined) => Promise<Read<Page & Readonly<Record<Member, readonly Row[]>>>>,
): AsyncGenerator<Row, void, undefined> {
  for await (const page of pages(read)) {
    for (const row of page[member]) yield row;
  }
}
