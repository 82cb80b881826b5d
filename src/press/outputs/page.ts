import { pageSlugProblem } from '../../desk/page.ts';
import { tags } from '../../desk/tags.ts';
import type { Output } from '../output.ts';
import { afterPrefix } from '../output.ts';
import { proseHtml } from '../prose-html.ts';
import type { PageView } from '../views.ts';
import { frameOf } from './frame.ts';
import { prosePicture } from './row-view.ts';

/** A page of the paper's own. */
export const page: Output = {
  kind: 'page',
  stage: 'list',
  *keysForTag(tag) {
    const slug = afterPrefix(tags.page(''), tag);
    if (slug !== null) yield slug;
  },
  *allKeys(edition) {
    for (const { slug } of edition.pages()) yield slug;
  },
  async print(edition, slug, { render }) {
    const found = edition.page(slug);
    // An address that a newer version uses itself is the paper's.
    if (found === null || pageSlugProblem(slug) !== null) return null;
    const { base } = edition.site;
    const { language } = edition.paper();
    const view: PageView = {
      frame: frameOf(edition, {
        path: `${slug}/`,
        title: found.title,
        description: found.description,
        language: found.language ?? language,
      }),
      heading: found.title,
      url: `${base}/${slug}/`,
      html: proseHtml(found.prose, [], (path) => prosePicture(edition, path)).html,
    };
    return [{ path: `${slug}/index.html`, body: await render('/paper/page', view) }];
  },
};
