import { createWriteStream, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { ZipFile } from 'yazl';
import { type Fetch, type Mapping, NO_MAPPING, type System } from '../../../packages/import/src/index.ts';
import { importLines } from '../../../src/desk/ingest/import-archive.ts';
import { type ArchiveLines, jsonLines } from '../../../src/desk/ingest/import-lines.ts';
import { openOther, otherLines } from '../../../src/desk/ingest/other-systems.ts';
import { type AppContext, intakeOf } from '../../../src/server/context.ts';
import { appContextIn, type Scope, tempFolder } from '../../support/app-context.ts';

/** A post of WordPress; each member as the export has it. */
export interface WxrPost {
  title?: string;
  name?: string;
  html?: string;
  status?: string;
  type?: string;
  date?: string;
  creator?: string;
  categories?: string[];
  tags?: string[];
  password?: string;
  thumbnail?: string;
  link?: string;
  id?: number;
  attachment?: string;
  excerpt?: string;
}

const cdata = (text: string) => `<![CDATA[${text.replaceAll(']]>', ']]]]><![CDATA[>')}]]>`;

export const SITE = 'https://old.example';

/** The head of a WXR file, in the form of WordPress 6. */
export const WXR_HEAD = `<?xml version="1.0" encoding="UTF-8" ?>
<!-- This is a WordPress eXtended RSS file -->
<rss version="2.0" xmlns:excerpt="http://wordpress.org/export/1.2/excerpt/" xmlns:content="http://purl.org/rss/1.0/modules/content/" xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:wp="http://wordpress.org/export/1.2/">
<channel>
<title>The Old Quay</title>
<link>${SITE}</link>
<wp:wxr_version>1.2</wp:wxr_version>
<wp:base_site_url>${SITE}</wp:base_site_url>
<wp:base_blog_url>${SITE}</wp:base_blog_url>
<wp:author><wp:author_id>1</wp:author_id><wp:author_login>${cdata('ann')}</wp:author_login><wp:author_display_name>${cdata('Ann Lee')}</wp:author_display_name></wp:author>
`;
export const WXR_FOOT = '</channel>\n</rss>\n';

export function wxrItem(post: WxrPost): string {
  const {
    title = 'Two ferries',
    name = 'two-ferries',
    html = '<p>A text.</p>',
    status = 'publish',
    type = 'post',
  } = post;
  const { date = '2019-05-20 10:00:00', creator = 'ann', categories = ['News'], tags = [], id = 10 } = post;
  const term = (domain: string) => (name: string) =>
    `<category domain="${domain}" nicename="x">${cdata(name)}</category>`;
  return `<item>
<title>${cdata(title)}</title>
<link>${post.link ?? `${SITE}/2019/05/${name}/`}</link>
<dc:creator>${cdata(creator)}</dc:creator>
<content:encoded>${cdata(html)}</content:encoded>
<excerpt:encoded>${cdata(post.excerpt ?? '')}</excerpt:encoded>
<wp:post_id>${id}</wp:post_id>
<wp:post_date>${cdata(date)}</wp:post_date>
<wp:post_date_gmt>${cdata(date)}</wp:post_date_gmt>
<wp:post_name>${cdata(name)}</wp:post_name>
<wp:status>${cdata(status)}</wp:status>
<wp:post_type>${cdata(type)}</wp:post_type>
<wp:post_password>${cdata(post.password ?? '')}</wp:post_password>
${post.attachment === undefined ? '' : `<wp:attachment_url>${cdata(post.attachment)}</wp:attachment_url>`}
${[...categories.map(term('category')), ...tags.map(term('post_tag'))].join('\n')}
${post.thumbnail === undefined ? '' : `<wp:postmeta><wp:meta_key>${cdata('_thumbnail_id')}</wp:meta_key><wp:meta_value>${cdata(post.thumbnail)}</wp:meta_value></wp:postmeta>`}
<wp:comment><wp:comment_id>1</wp:comment_id><wp:comment_content>${cdata('First!')}</wp:comment_content></wp:comment>
</item>
`;
}

export const wxr = (...posts: WxrPost[]): string => `${WXR_HEAD}${posts.map(wxrItem).join('')}${WXR_FOOT}`;

/** A ZIP archive of these files. */
export async function zipOf(file: string, files: Record<string, string | Buffer>): Promise<string> {
  const zip = new ZipFile();
  for (const [path, content] of Object.entries(files)) zip.addBuffer(Buffer.from(content), path);
  zip.end();
  await pipeline(zip.outputStream, createWriteStream(file));
  return file;
}

/** Writes files below a folder. */
export function folderOf(folder: string, files: Record<string, string | Buffer>): string {
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content);
  }
  return folder;
}

export interface ImportedHere {
  filed: number;
  unchanged: number;
  skipped: number;
  /** `where field: message`, without folders. */
  refused: string[];
  notes: string[];
}

/** Imports an archive into the paper `quay`, as the command does. Without `fetch`, no picture of the web is there. */
export async function importHere(
  app: AppContext,
  path: string,
  options: { dryRun?: boolean; mapping?: Mapping; from?: System; site?: string; fetch?: Fetch; create?: boolean } = {},
): Promise<ImportedHere> {
  const { mapping = NO_MAPPING, site: siteUrl = null } = options;
  const fetch = options.dryRun ? null : (options.fetch ?? offline);
  const notes: string[] = [];
  const work = async (lines: ArchiveLines) => {
    const { filed, unchanged, skipped, refused } = await importLines(intakeOf(app), lines, {
      ...{ paper: 'quay', create: options.create ?? true, air: true, dryRun: options.dryRun ?? false },
      onNote: ({ title, note }) => notes.push(`${title}: ${note}`),
    });
    const said = refused.flatMap(({ slug, problems }) =>
      problems.map(({ field, message }) => `${slug} ${field}: ${message}`),
    );
    return { filed, unchanged, skipped, refused: said, notes };
  };
  const source = await openOther(path, options.from);
  try {
    if (source === null) return await work(jsonLines(path));
    return await work(otherLines(intakeOf(app), source, { paper: 'quay', mapping, siteUrl, fetch }));
  } finally {
    source?.close();
  }
}

const offline: Fetch = async () => ({
  ...{ status: null, error: 'dns', contentType: null, bytes: null, location: null, cut: null },
});

/** Answers with these bytes by address, and 404 for any other. Counts the requests. */
export function fetchOf(files: Record<string, Buffer>, asked: string[] = []): Fetch {
  return async (address) => {
    asked.push(address);
    const bytes = files[address] ?? null;
    const status = bytes === null ? 404 : 200;
    const type = bytes === null ? 'text/html' : 'image/png';
    return {
      status,
      error: bytes === null ? 'status 404' : null,
      contentType: type,
      bytes,
      location: null,
      cut: null,
    };
  };
}

/** When the tests of imports run. */
const NOW = Date.parse('2026-11-20T12:00:00Z');

/** A desk in a folder of the test, and a way to put a file there. */
export function here(t: Scope) {
  const folder = tempFolder(t);
  const app = appContextIn(t, folder, { now: NOW });
  const write = (name: string, content: string | Buffer) => {
    writeFileSync(join(folder, name), content);
    return join(folder, name);
  };
  return { folder, app, write };
}
