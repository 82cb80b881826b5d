import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { fileContent } from '../../src/desk/ingest/content-folder.ts';
import { LEVELS, type Level } from '../../src/desk/papers/keys.ts';
import { makePaperKey } from '../../src/desk/papers/paper-keys.ts';
import { intakeOf, openAppContext } from '../../src/server/context.ts';
import { readSettings } from '../../src/server/env.ts';
import { envIn } from './app-context.ts';
import { emptyDatabase } from './empty-database.ts';

const MEDIA = fileURLToPath(new URL('../../content/the-leading-light/media', import.meta.url));
const POSTER = fileURLToPath(new URL('../fixtures/poster.jpg', import.meta.url));

/** A paper's keys, one per level. */
export type Keys = Record<Level, string>;

export interface SmallPaper {
  slug: string;
  isPublic?: boolean;
  /** The URL of its own domain. */
  url?: string;
}

const STORIES = [
  { slug: 'high-water', category: 'Tides', byline: 'vera-holm', air: '2026-11-18T06:00:00Z', art: true },
  { slug: 'low-water', category: 'Tides', byline: 'ibo-sand', air: '2026-11-18T18:30:00Z', art: true },
  { slug: 'a-white-light', category: 'Lights', byline: 'vera-holm', air: '2026-11-19T07:15:00Z', art: false },
  { slug: 'slack-water', category: 'Tides', byline: 'ibo-sand', air: false, art: false },
];

/** Writes small papers into a content folder, files them, and returns the keys of each. */
export async function enterPapers(folder: string, papers: readonly SmallPaper[]): Promise<Map<string, Keys>> {
  for (const paper of papers) writePaper(join(folder, 'content', paper.slug), paper);
  // The server's own address is not known yet, and nothing is pressed here.
  emptyDatabase(join(folder, 'var'));
  const app = openAppContext(readSettings(envIn(folder)));
  try {
    const { problems } = await fileContent(intakeOf(app));
    if (problems.length > 0) throw new Error(JSON.stringify(problems));
    return new Map(
      papers.map(({ slug }) => {
        const keys = LEVELS.map((level) => [level, makePaperKey(app, slug, { level, name: `A key to ${level}` }).key]);
        return [slug, Object.fromEntries(keys) as Keys];
      }),
    );
  } finally {
    app.close();
  }
}

function writePaper(folder: string, { slug, isPublic = true, url }: SmallPaper): void {
  for (const name of ['masthead', 'stories', 'cast', 'media/art']) mkdirSync(join(folder, name), { recursive: true });
  cpSync(join(MEDIA, 'cast'), join(folder, 'media/cast'), { recursive: true });
  // A small poster, because drawing the variants of a large one takes longer than pressing the rest of the paper.
  cpSync(POSTER, join(folder, 'media/cast/2026-11-16.jpg'));
  cpSync(join(MEDIA, 'art/buoys.svg'), join(folder, 'media/art/buoys.svg'));
  write(folder, 'paper.yaml', {
    nameplate: 'The Tide Table',
    motto: 'Twice a day',
    description: `A small paper for tests: ${slug}.`,
    hue: 210,
    sections: ['Tides', 'Lights'],
    paper_public: isPublic,
    contact: 'desk@example.org',
    ...(url === undefined ? {} : { url }),
  });
  for (const [persona, name] of Object.entries({ 'vera-holm': 'Vera Holm', 'ibo-sand': 'Ibo Sand' })) {
    write(folder, `masthead/${persona}.yaml`, { name, title: 'Watch', beat: `The watch of ${name}.` });
  }
  write(folder, 'cast/2026-11-19.yaml', {
    title: 'The watch in half a minute',
    video: 'media/cast/2026-11-16.mp4',
    poster: 'media/cast/2026-11-16.jpg',
  });
  for (const { slug: story, art, ...rest } of STORIES) {
    const {
      slug: _slug,
      prose,
      ...fields
    } = {
      ...storyBody(story),
      ...rest,
      ...(art ? { image: { src: 'media/art/buoys.svg', alt: 'Buoys' } } : {}),
    };
    writeFileSync(join(folder, `stories/${story}.md`), `---\n${JSON.stringify(fields)}\n---\n\n${prose}\n`);
  }
}

/** Writes JSON, which is valid YAML. */
function write(folder: string, name: string, value: object): void {
  writeFileSync(join(folder, name), `${JSON.stringify(value)}\n`);
}

/** The body of a filing that a small paper's door accepts. */
export function storyBody(slug: string) {
  return {
    slug,
    headline: `What ${slug.replaceAll('-', ' ')} means`,
    dek: 'A dek of one sentence.',
    category: 'Tides',
    kind: 'news',
    byline: 'vera-holm',
    prose: 'One thing is so.[^1] Another is so.[^2]',
    cited_facts: [
      { statement: 'One thing is so.', source: 'IHO', instrument: 'https://iho.int/' },
      { statement: 'Another is so.', source: 'NIST', instrument: 'SP 811', claim_key: 'sp811-another' },
    ],
  };
}
