import { tableTag } from '../../phrases/tables.ts';
import type { AppContext } from '../context.ts';
import type { Finding } from './finding.ts';
import { holds, open, runCheck } from './finding.ts';

/** Names the papers in a language without a table of phrases: their pages speak English around the pieces. */
export function checkLanguages(app: AppContext | null): Promise<Finding> {
  return runCheck('languages', () => {
    const papers = app === null ? [] : app.store.paperSlugs().flatMap((slug) => app.store.paper(slug) ?? []);
    const without = papers.filter(({ language }) => tableTag(language) === null);
    if (without.length === 0) return holds('the pages of every paper speak its language');
    const named = without.map(({ slug, language }) => `${slug} (${language})`).join(', ');
    return open(`pages speak English around the pieces of ${named}; docs/translating.md says how to add a language`);
  });
}
