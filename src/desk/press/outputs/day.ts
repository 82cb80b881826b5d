import { COVER_SIDE, coverPath } from '../../../media/card/card.ts';
import { motifOf } from '../../../media/motif.ts';
import { fill } from '../../../phrases/fill.ts';
import { phrasesOf } from '../../../phrases/tables.ts';
import { dependencies } from '../../dependencies.ts';
import { type Cast, castFile, chaptersOf, hasAudio } from '../../papers/cast.ts';
import type { Edition } from '../edition.ts';
import { channelOf, fileUrl } from '../feeds/channel.ts';
import { CHAPTERS_FILE, chaptersJson } from '../feeds/podcast.ts';
import { keysAfter, type Output, type RenderTools, singleOutput } from '../output.ts';
import { castJsonLd } from '../structured-data.ts';
import { transcriptOf } from '../transcript.ts';
import type { CastDayView, CastView, DaysView, ShareImage, TranscriptPart } from '../views.ts';
import { frameOf, miniatureView, pictureView, rowView } from './frame.ts';
import { logoOf } from './icons.ts';

/** How many published days the list of back issues shows at once. */
const DAYS_MAX = 366;
/** How many of the newest days are shown as miniatures of their fronts: four weeks. */
const MINIATURES_MAX = 28;

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
      motif: motifOf(nameplate),
      // Without its file, the edition has nothing to link to.
      cast: cast?.file_url === null ? null : cast,
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

/** The years with pieces, newest first. */
export function yearsOf(edition: Edition): string[] {
  return [...new Set(edition.months().map(({ month }) => month.slice(0, 4)))].reverse();
}

function daysView(edition: Edition, name: string | null): DaysView {
  const { base } = edition.site;
  const { nameplate, language } = edition.paper();
  const { page, days: t } = phrasesOf(language);
  const found = name === null ? edition.newestDays(DAYS_MAX) : edition.daysOf(name);
  const days = found.map((row) => ({ ...row, url: `${base}/days/${row.day}/` }));
  return {
    frame: frameOf(edition, {
      path: name === null ? 'days/' : `days/${name}/`,
      title: name === null ? page.back_issues : fill(t.title_year, { year: name }),
      description: fill(t.description, { paper: nameplate }),
    }),
    year: name,
    days,
    newest:
      name !== null
        ? []
        : days.slice(0, MINIATURES_MAX).flatMap((one) => {
            const lead = miniatureView(edition, edition.dayTop(one.day));
            return lead === null ? [] : [{ ...one, lead }];
          }),
    years: yearsOf(edition).map((row) => ({ year: row, url: `${base}/days/${row}/` })),
  };
}

export function castView(edition: Edition, cast: Cast): CastView {
  const { base } = edition.site;
  const { day, title, description, duration_s, bytes, media_type, poster } = cast;
  const file = castFile(cast);
  const captions = cast.transcript ?? cast.captions;
  return {
    ...{ day, title, description, duration_s, bytes, media_type },
    is_audio: cast.audio !== undefined,
    url: `${base}/cast/${day}/`,
    embed_url: `${base}/cast/${day}/embed/`,
    file_url: edition.media(file)?.missing ? null : `${base}/${file}`,
    poster: poster === undefined ? null : pictureView(edition, { src: poster, alt: '', credit: null }),
    motif: poster === undefined ? motifOf(edition.paper().nameplate) : null,
    captions_url: captions === null ? null : `${base}/${captions}`,
  };
}

/** The picture that represents an edition elsewhere: its poster, or the cover of the podcast. */
export function castImage(edition: Edition, { poster, title }: Cast): ShareImage {
  const { root } = edition.site;
  if (poster === undefined) {
    return { absolute: `${root}/${coverPath(edition.paper())}`, alt: title, width: COVER_SIDE, height: COVER_SIDE };
  }
  const { width = null, height = null } = edition.media(poster) ?? {};
  return { absolute: fileUrl(root, poster), alt: title, width, height };
}

/** The transcript. The captions of a video stay separate, so that each one links to its time in the video. */
async function transcriptIn(
  edition: Edition,
  { transcript, captions }: Cast,
  { pictures }: RenderTools,
): Promise<TranscriptPart[]> {
  const file = transcript ?? captions;
  const media = file === null ? null : edition.media(file);
  if (media === null || media.missing) return [];
  return transcriptOf(
    new TextDecoder().decode(await pictures.original(media)),
    transcript === undefined ? 0 : undefined,
  );
}

export const castIndex = singleOutput('cast', 'index', async (edition, { render }) => {
  const { nameplate, language } = edition.paper();
  const { cast: t, page } = phrasesOf(language);
  const casts = edition.casts();
  const has_audio = hasAudio(casts);
  const view = {
    frame: frameOf(edition, {
      path: 'cast/',
      title: has_audio ? page.podcast : t.all,
      description: fill(has_audio ? t.podcast_description : t.description, { paper: nameplate }),
    }),
    has_audio,
    casts: casts.map((cast) => castView(edition, cast)),
    podcast_url: `${edition.site.base}/podcast.xml`,
  };
  return [{ path: 'cast/index.html', body: await render('/paper/cast-index', view) }];
});

/** The edition of one day: its page, the player alone for embedding, and its chapters for players. */
export const castDay: Output = {
  kind: 'cast-day',
  stage: 'list',
  paths: /^cast\/(\d{4}-\d\d-\d\d)\//,
  keysForDependency: (dependency, edition) =>
    keysAfter(dependencies.day(''))(dependency).filter((day) => edition.cast(day) !== null),
  allKeys: (edition) => edition.archive.casts().map(({ day }) => day),
  async print(edition, day, tools) {
    const cast = edition.cast(day);
    if (cast === null) return null;
    const file = edition.media(castFile(cast));
    const chapters = chaptersOf(cast);
    const oembed = `${edition.site.root}/oembed?url=${encodeURIComponent(`${edition.site.root}/cast/${day}/`)}`;
    const share = castImage(edition, cast);
    const view: CastDayView = {
      frame: frameOf(edition, {
        path: `cast/${day}/`,
        title: cast.title,
        description: cast.description,
        share,
        // Without its file, there is nothing to describe.
        ...(file?.missing
          ? {}
          : {
              json_ld: castJsonLd(channelOf(edition), cast, {
                size: file,
                image: share.absolute,
                logo: logoOf(edition),
              }),
            }),
      }),
      cast: castView(edition, cast),
      chapters,
      transcript: await transcriptIn(edition, cast, tools),
      rows: edition.day(day).map((row) => rowView(edition, row)),
      oembed_json_absolute: oembed,
      oembed_xml_absolute: `${oembed}&format=xml`,
    };
    return [
      { path: `cast/${day}/index.html`, body: await tools.render('/paper/cast-day', view) },
      { path: `cast/${day}/embed/index.html`, body: await tools.render('/paper/cast-embed', view) },
      ...(chapters.length === 0 ? [] : [{ path: `cast/${day}/${CHAPTERS_FILE}`, body: chaptersJson(chapters) }]),
    ];
  },
};
