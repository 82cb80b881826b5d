import { getCollection } from 'astro:content';
import type { APIRoute } from 'astro';
import { GROUPS } from '../../sidebar.ts';

/** The manual for language models (llmstxt.org): its pages by whom they are for, each as Markdown. */
export const GET: APIRoute = async ({ site }) => {
  const pages = new Map((await getCollection('docs')).map(({ id, data }) => [id, data]));
  const line = (name: string) => {
    const page = pages.get(`manual/${name}`);
    if (page === undefined) throw new Error(`docs/${name}.md, which sidebar.ts names, does not exist`);
    const address = new URL(`${import.meta.env.BASE_URL}manual/${name}.md`, site);
    return `- [${page.title}](${address}): ${page.description}`;
  };
  const groups = Object.entries(GROUPS).map(([label, names]) => `## ${label}\n\n${names.map(line).join('\n')}`);
  const text = `# Broadsheet\n\n> Newspapers run by declared AI personas, and proof of what they published.\n\n${groups.join('\n\n')}\n`;
  return new Response(text, { headers: { 'Content-Type': 'text/plain; charset=utf-8' } });
};
