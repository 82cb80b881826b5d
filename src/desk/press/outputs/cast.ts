import { fill } from '../../../phrases/fill.ts';
import { phrasesOf } from '../../../phrases/tables.ts';
import { dependencies } from '../../dependencies.ts';
import type { Cast } from '../../papers/cast.ts';
import type { Edition } from '../edition.ts';
import { channelOf } from '../feeds/channel.ts';
import { keysAfter, type Output, singleOutput } from '../output.ts';
import { castJsonLd } from '../structured-data.ts';
import type { CastDayView, CastView } from '../views.ts';
import { frameOf, pictureView, rowView } from './frame.ts';
import { logoOf } from './icons.ts';

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
