import { getCollection } from 'astro:content';
import type { APIRoute, GetStaticPaths } from 'astro';

/** Every page of the manual as Markdown, at the page's address with `.md` at its end. */
export const getStaticPaths = (async () =>
  (await getCollection('docs'))
    .filter(({ body }) => body)
    .map(({ id, data, body }) => ({
      params: { page: id },
      props: { text: `# ${data.title}\n\n${body?.trim()}\n` },
    }))) satisfies GetStaticPaths;

export const GET: APIRoute<{ text: string }> = ({ props }) =>
  new Response(props.text, { headers: { 'Content-Type': 'text/markdown; charset=utf-8' } });
