import { fill } from '../../../phrases/fill.ts';
import { phrasesOf } from '../../../phrases/tables.ts';
import { dependencies } from '../../dependencies.ts';
import type { Cast } from '../../papers/cast.ts';
import type { Edition } from '../edition.ts';
import { channelOf } from '../feeds/channel.ts';
import { keysAfter, type Output, singleOutput } from '../output.ts';
import { castJsonLd } from '../structured-data.ts';
import type { CastDayView, CastView, DaysView } from '../views.ts';
import { frameOf, pictureView, rowView } from './frame.ts';
import { logoOf } from './icons.ts';

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

export function castView(edition: Edition, cast: Cast): CastView {
  const { base } = edition.site;
  return {
    ...cast,
    url: `${base}/cast/${cast.day}/`,
    embed_url: `${base}/cast/${cast.day}/embed/`,
    video_url: edition.media(cast.video)?.missing ? null : `${base}/${cast.video}`,
    poster: pictureView(edition, { src: cast.poster, alt: '', credit: null }),
    captions_url: cast.captions === null ? null : `${base}/${cast.captions}`,
  };
}

export const castIndex = singleOutput('cast', 'index', async (edition, { render }) => {
  const { nameplate, language } = edition.paper();
  const t = phrasesOf(language).cast;
  const view = {
    frame: frameOf(edition, { path: 'cast/', title: t.all, description: fill(t.description, { paper: nameplate }) }),
    casts: edition.casts().map((cast) => castView(edition, cast)),
    podcast_url: `${edition.site.base}/podcast.xml`,
  };
  return [{ path: 'cast/index.html', body: await render('/paper/cast-index', view) }];
});

/** The video edition of one day: its page, and the player alone for embedding. */
export const castDay: Output = {
  kind: 'cast-day',
  stage: 'list',
  paths: /^cast\/(\d{4}-\d\d-\d\d)\//,
  keysForDependency: (dependency, edition) =>
    keysAfter(dependencies.day(''))(dependency).filter((day) => edition.cast(day) !== null),
  allKeys: (edition) => edition.archive.casts().map(({ day }) => day),
  async print(edition, day, { render }) {
    const cast = edition.cast(day);
    if (cast === null) return null;
    const { width = null, height = null } = edition.media(cast.poster) ?? {};
    const video = edition.media(cast.video);
    const oembed = `${edition.site.root}/oembed?url=${encodeURIComponent(`${edition.site.root}/cast/${day}/`)}`;
    const view: CastDayView = {
      frame: frameOf(edition, {
        path: `cast/${day}/`,
        title: cast.title,
        description: cast.description,
        share: { absolute: `${edition.site.root}/${cast.poster}`, alt: cast.title, width, height },
        // Without its video there is nothing to describe.
        ...(video?.missing
          ? {}
          : { json_ld: castJsonLd(channelOf(edition), cast, { size: video, logo: logoOf(edition) }) }),
      }),
      cast: castView(edition, cast),
      rows: edition.day(day).map((row) => rowView(edition, row)),
      oembed_json_absolute: oembed,
      oembed_xml_absolute: `${oembed}&format=xml`,
    };
    return [
      { path: `cast/${day}/index.html`, body: await render('/paper/cast-day', view) },
      { path: `cast/${day}/embed/index.html`, body: await render('/paper/cast-embed', view) },
    ];
  },
};
