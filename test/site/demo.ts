import { globSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileContent } from '../../src/desk/ingest/content-folder.ts';
import { pressPapers } from '../../src/desk/jobs/press-run.ts';
import { paperRoot } from '../../src/desk/papers/paper.ts';
import { intakeOf, openAppContext } from '../../src/server/context.ts';
import { readSettings } from '../../src/server/env.ts';
import { envIn, treeOf } from '../support/app-context.ts';
import { copyContent } from '../support/program.ts';

export interface PressedPaper {
  slug: string;
  /** Its root address, without a slash at its end. */
  root: string;
  /** The text of every file, by its path. */
  files: Map<string, string>;
}

/**
 * Presses the repository's own papers in a folder; the first of them at an address of its own where one is given. Cards
 * take longer to draw than everything else to print, and may be left out; so may all stories but those named.
 */
export async function pressDemo(
  folder: string,
  origin: string,
  url: string | null,
  { cards = true, only }: { cards?: boolean; only?: readonly string[] } = {},
): Promise<PressedPaper[]> {
  copyContent(folder);
  if (only !== undefined) {
    for (const story of globSync(join(folder, 'content/*/stories/*.md')))
      if (!only.includes(basename(story, '.md'))) rmSync(story);
    // Corrections of facts that these stories may not cite.
    for (const facts of globSync(join(folder, 'content/*/facts'))) rmSync(facts, { recursive: true });
  }
  if (url !== null) {
    const file = join(folder, 'content/the-plumb-line/paper.yaml');
    writeFileSync(file, `${readFileSync(file, 'utf8')}\nurl: ${url}\n`);
  }
  const settings = readSettings(envIn(folder, { ORIGIN: origin }));
  const app = openAppContext(settings);
  try {
    const { problems } = await fileContent(intakeOf(app));
    if (problems.length > 0) throw new Error(JSON.stringify(problems));
    await pressPapers(app, { cards });
    return app.store.desk.paperSlugs().map((slug) => {
      const paper = app.store.desk.paper(slug);
      const files = [...treeOf(join(folder, 'papers', slug))].map(
        ([path, bytes]) => [path, Buffer.from(bytes, 'latin1').toString()] as const,
      );
      return { slug, root: paperRoot({ slug, url: paper?.url }, origin), files: new Map(files) };
    });
  } finally {
    app.close();
  }
}
