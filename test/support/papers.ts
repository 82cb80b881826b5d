import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Adds a paper to a content folder: a copy of another one with a modified paper.yaml. With `only`, leaves out all other
 * stories, because drawing their cards takes longer than most tests.
 */
export function copyPaper(
  folder: string,
  from: string,
  to: string,
  change: (yaml: string) => string,
  only?: readonly string[],
): void {
  const [source, target] = [join(folder, 'content', from), join(folder, 'content', to)];
  cpSync(source, target, { recursive: true });
  const stories = join(target, 'stories');
  if (only !== undefined)
    for (const name of readdirSync(stories)) if (!only.includes(name.replace(/\.md$/, ''))) rmSync(join(stories, name));
  const file = join(target, 'paper.yaml');
  // Without `sources`: a copy is not a demo, and would read its sources from the network.
  writeFileSync(file, change(readFileSync(file, 'utf8').replace(/^sources: .*\n/m, '')));
}

/** Writes a story that the demo paper's door accepts to a content folder. Returns its path. */
export function writeStory(folder: string, slug: string, more: Record<string, string> = {}): string {
  const fields = {
    headline: `What ${slug} means`,
    dek: 'A dek of one sentence.',
    category: 'Measures',
    kind: 'news',
    byline: 'osric-tamblyn',
    ...more,
  };
  const front = Object.entries(fields).map(([name, value]) => `${name}: ${JSON.stringify(value)}`);
  const facts = ['RFC Editor', 'NIST'].map(
    (source) => `  - statement: "It is so."\n    source: ${source}\n    instrument: "https://example.org/"`,
  );
  const file = join(folder, 'content/the-plumb-line/stories', `${slug}.md`);
  writeFileSync(
    file,
    `---\n${front.join('\n')}\ncited_facts:\n${facts.join('\n')}\n---\n\nOne thing is so.[^1] Another is so.[^2]\n`,
  );
  return file;
}
