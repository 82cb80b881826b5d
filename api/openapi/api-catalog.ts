import { z } from '@hono/zod-openapi';

/** The path at which a host lists its APIs (RFC 9727, section 2). */
export const CATALOG_PATH = '/.well-known/api-catalog';

/** The media type of a linkset that is an API catalog (RFC 9727, section 5; RFC 9264, section 4.2). */
export const CATALOG_TYPE = 'application/linkset+json; profile="https://www.rfc-editor.org/info/rfc9727"';

const Target = z.object({ href: z.url(), type: z.string().optional(), title: z.string().optional() });
type Target = z.infer<typeof Target>;

export const Catalog = z
  .object({
    linkset: z.array(
      z.object({
        anchor: z.url().openapi({ description: 'The catalog itself, or the index of one API.' }),
        item: z.array(Target).optional().openapi({ description: 'The APIs that are listed.' }),
        'service-desc': z.array(Target).optional(),
        'service-doc': z.array(Target).optional(),
      }),
    ),
  })
  .openapi('ApiCatalog', { description: 'A linkset as RFC 9264 has it: first the catalog, then each of its APIs.' });

/** An API in a catalog. */
export interface ListedApi {
  /** The address of its index. */
  anchor: string;
  title: string;
  /** Machine-readable descriptions. */
  desc: Target[];
  /** Documentation for people. */
  doc: Target[];
}

/** The catalog of some APIs, published at `root`. */
export function catalogOf(root: string, apis: readonly ListedApi[]): z.infer<typeof Catalog> {
  const item = apis.map(({ anchor, title }) => ({ href: anchor, type: 'application/json', title }));
  const described = apis.map(({ anchor, desc, doc }) => ({ anchor, 'service-desc': desc, 'service-doc': doc }));
  return { linkset: [{ anchor: root + CATALOG_PATH, item }, ...described] };
}

/** The `Link` header of the catalog (RFC 9727, section 2). Long lists are in the catalog only. */
export function catalogLinks(root: string, apis: readonly Pick<ListedApi, 'anchor'>[]): string {
  const items = apis.map(({ anchor }) => `<${anchor}>; rel="item"`);
  return [`<${root}${CATALOG_PATH}>; rel="api-catalog"`, ...items].join(', ');
}
