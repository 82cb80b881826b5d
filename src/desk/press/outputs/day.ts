import { fill } from '../../../phrases/fill.ts';
import { phrasesOf } from '../../../phrases/tables.ts';
import { dependencies } from '../../dependencies.ts';
import type { Edition } from '../edition.ts';
import { keysAfter, type Output, singleOutput } from '../output.ts';
import type { DaysView } from '../views.ts';
import { castView } from './cast.ts';
import { frameOf, rowView } from './frame.ts';

/** How many published days the list of back issues shows at once. */
const DAYS_MAX = 366;

export const day: Output = {
  kind: 'day',
  stage: 'list',
  paths: /^days\/(\d{4}-\d\d-\d\d)\//,
  keysForDependency: keysAfter(dependencies.day('')),
  allKeys: (edition) => edition.archive.days().map(({ day }) => day),
  async print(edition, name, { render }) {
    const rows = edition.day(name);
    if (rows.length === 0) return null;
    const found = edition.cast(name);
    const cast = found === null ? null : castView(edition, found);
    const { nameplate, language } = edition.paper();
    const view = {
      frame: frameOf(edition, {
        path: `days/${name}/`,
        title: name,
        description: fill(phrasesOf(language).day.description, { paper: nameplate, day: name }),
      }),
      day: name,
      rows: rows.map((row) => rowView(edition, row)),
      // Without its video it has nothing to lead to.
      cast: cast?.video_url === null ? null : cast,
      days_url: `${edition.site.base}/days/`,
    };
    return [{ path: `days/${name}/index.html`, body: await render('/paper/day', view) }];
  },
};

export const days = singleOutput('days', 'front', async (edition, { render }) => [
  { path: 'days/index.html', body: await render('/paper/days', daysView(edition, null)) },
]);

export const year: Output = {
  kind: 'year',
  stage: 'index',
  paths: /^days\/(\d{4})\//,
  keysForDependency: (dependency) => keysAfter(dependencies.day(''))(dependency).map((day) => day.slice(0, 4)),
  allKeys: yearsOf,
  async print(edition, name, { render }) {
    const view = daysView(edition, name);
    if (view.days.length === 0) return null;
    return [{ path: `days/${name}/index.html`, body: await render('/paper/days', view) }];
  },
};

function yearsOf(edition: Edition): string[] {
  return [...new Set(edition.months().map(({ month }) => month.slice(0, 4)))].reverse();
}

function daysView(edition: Edition, name: string | null): DaysView {
  const { base } = edition.site;
  const { nameplate, language } = edition.paper();
  const { page, days: t } = phrasesOf(language);
  const found = name === null ? edition.newestDays(DAYS_MAX) : edition.daysOf(name);
  return {
    frame: frameOf(edition, {
      path: name === null ? 'days/' : `days/${name}/`,
      title: name === null ? page.back_issues : fill(t.title_year, { year: name }),
      description: fill(t.description, { paper: nameplate }),
    }),
    year: name,
    days: found.map((row) => ({ ...row, url: `${base}/days/${row.day}/` })),
    years: yearsOf(edition).map((row) => ({ year: row, url: `${base}/days/${row}/` })),
  };
}
