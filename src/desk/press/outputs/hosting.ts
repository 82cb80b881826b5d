import { createHash } from 'node:crypto';
import { isoTime } from '../../../proof/time.ts';
import type { Edition } from '../edition.ts';
import { type HeaderContext, headersFile } from '../feeds/headers.ts';
import { type Render, singleOutput } from '../output.ts';
import type { EmbedView } from '../views.ts';

export const hosting = singleOutput('hosting', 'host', async (edition, { render }) => {
  const pages = edition.pages().map(({ slug }) => slug);
  return [{ path: '_headers', body: headersFile(await headerContext(edition, render), pages) }];
});

/** The paper's input to the header policy: the hashes of the embed card's inline scripts. */
export async function headerContext(edition: Edition, render: Render): Promise<HeaderContext> {
  const { root } = edition.site;
  const { analytics } = edition.paper();
  const card = await render('/paper/embed', emptyCard(edition));
  const scripts = [...card.matchAll(/<script\b[^>]*>([\s\S]*?)<\/script>/g)].map(([, text = '']) => text);
  return {
    root,
    analytics,
    embed_scripts: scripts.map((text) => `sha256-${createHash('sha256').update(text).digest('base64')}`),
  };
}

/** A card without a piece. Its scripts are those of every card. */
function emptyCard(edition: Edition): EmbedView {
  const { nameplate, hue, language } = edition.paper();
  const { root } = edition.site;
  return {
    withdrawn_at: null,
    language,
    hue,
    nameplate,
    root_absolute: `${root}/`,
    story_absolute: `${root}/`,
    headline: '',
    dek: '',
    category: '',
    byline: { name: '', title: '' },
    writer: null,
    published_at: isoTime(0),
    image: null,
    motif: null,
  };
}
