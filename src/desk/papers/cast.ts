import * as z from 'zod';
import { CHAPTER_TITLE_MAX, CHAPTERS_MAX } from '../../media/media-formats.ts';
import { filledLine } from '../line.ts';
import type { Chapter, Media } from './media.ts';

const TIME = /^(?:\d{1,3}:[0-5]|\d{0,3})\d:[0-5]\d(?:\.\d{1,3})?$/;
const TIME_FORM = 'must be seconds from the start, or a time such as 1:05 or 1:02:30';
const DAY_S = 86_400;

/** A chapter as people write it. */
const ChapterBody = z.strictObject({
  time: z
    .union([z.number().min(0), z.string().regex(TIME, TIME_FORM)], { error: TIME_FORM })
    .transform((time) =>
      typeof time === 'number' ? time : time.split(':').reduce((sum, part) => sum * 60 + Number(part), 0),
    )
    .refine((time) => time < DAY_S, 'must be within a day')
    .transform((time) => Math.round(time * 1000) / 1000),
  title: filledLine(CHAPTER_TITLE_MAX),
});

/** The members of an edition's record: `cast/<day>.yaml`, or the body of `PUT /api/v1/cast/{day}`. */
export const CastMembers = z.strictObject({
  title: filledLine(200),
  description: z.string().max(2_000).default(''),
  /** Paths of the paper's media files. A video needs a poster; for an audio edition it is optional. */
  video: z.string().optional(),
  poster: z.string().optional(),
  /** WebVTT captions of a video. */
  captions: z
    .string()
    .nullish()
    .transform((path) => path ?? null),
  /** An MP3 or M4A file, instead of a video. */
  audio: z.string().optional(),
  /** The text of an audio edition, as WebVTT. */
  transcript: z.string().optional(),
  /** Replaces the chapters in the audio file. */
  chapters: z.array(ChapterBody).max(CHAPTERS_MAX).optional(),
});

/** The edition of one day: a video or an audio file. */
export const CastBody = CastMembers.superRefine((body, context) => {
  for (const [field, message] of memberProblems(body)) context.addIssue({ code: 'custom', path: field, message });
  for (const [index, { time }] of body.chapters?.entries() ?? []) {
    if (time > (body.chapters?.[index - 1]?.time ?? -1)) continue;
    context.addIssue({
      code: 'custom',
      path: ['chapters', index, 'time'],
      message: 'must be later than the chapter before',
    });
  }
});
export type CastBody = z.infer<typeof CastBody>;

type Members = z.infer<typeof CastMembers>;

function* memberProblems({ video, audio, poster, captions, transcript }: Members): Iterable<[string[], string]> {
  if (video !== undefined && audio !== undefined) {
    yield [['audio'], 'an edition has a video or is audio alone; take out `video` or `audio`'];
  } else if (audio !== undefined) {
    if (captions !== null) yield [['captions'], 'an audio edition has no captions; name the file in `transcript`'];
  } else {
    if (video === undefined) {
      yield [['video'], 'this field is missing; add it, or the path of an MP3 or M4A file in `audio`'];
    }
    if (poster === undefined) yield [['poster'], 'this field is missing; add it'];
    if (transcript !== undefined) yield [['transcript'], 'is for an audio edition; name the file in `captions`'];
  }
}

/** The edition of one day, with the properties of its file. */
export interface Cast extends CastBody {
  /** YYYY-MM-DD, UTC. */
  day: string;
  duration_s: number;
  bytes: number;
  media_type: string;
  /** The chapters in the audio file. */
  file_chapters?: Chapter[];
}

/** The path of its video or audio file. */
export const castFile = ({ video, audio }: Pick<Cast, 'video' | 'audio'>): string => audio ?? video ?? '';

export const hasAudio = (casts: readonly Cast[]): boolean => casts.some(({ audio }) => audio !== undefined);

/** The properties of the video or audio file of an edition. */
export function fileProperties(
  file: Media | null,
): Pick<Cast, 'duration_s' | 'bytes' | 'media_type' | 'file_chapters'> {
  return {
    duration_s: Math.round((file?.duration_ms ?? 0) / 1000),
    bytes: file?.bytes ?? 0,
    media_type: file?.media_type ?? '',
    ...(file?.chapters === undefined ? {} : { file_chapters: file.chapters }),
  };
}

/** An edition without the properties of its file. */
export function withoutFileProperties(cast: Cast): CastBody & Pick<Cast, 'day'> {
  const { duration_s: _s, bytes: _b, media_type: _type, file_chapters: _chapters, ...rest } = cast;
  return rest;
}

/** The chapters of an audio edition within its rounded duration: a shorter file may have replaced the first one. */
export function chaptersOf({ chapters, file_chapters, duration_s }: Cast): Chapter[] {
  return (chapters ?? file_chapters ?? []).filter(({ time }) => time < duration_s + 0.5);
}

export const ChapterRow = z
  .object({ time: z.number().min(0).meta({ description: 'Seconds from the start.' }), title: z.string() })
  .meta({ id: 'Chapter' });

/** An edition in wire format. */
export const CastRow = z
  .object({
    day: z.iso.date(),
    title: z.string(),
    video_url: z.url().optional().meta({ description: 'Of a video edition; `audio_url` stands in its place.' }),
    audio_url: z.url().optional().meta({ description: 'Of an edition that is audio alone.' }),
    poster_url: z.url().optional().meta({ description: 'Every video edition has one.' }),
    embed_url: z.url().meta({ description: 'A player for an iframe.' }),
    page_url: z.url(),
    duration_s: z.int().min(0),
    bytes: z.int().min(0),
    media_type: z.string().meta({ description: '`video/mp4`, `audio/mpeg` or `audio/mp4`.' }),
    chapters: z
      .array(ChapterRow)
      .optional()
      .meta({ description: 'Of every audio edition, and of a video that has them; in order.' }),
    transcript_url: z.url().optional().meta({ description: 'What is said, as WebVTT; of an audio edition.' }),
  })
  .meta({ id: 'CastRow', description: 'The edition of one day, a video or audio.' });
export type CastRow = z.infer<typeof CastRow>;

export function castRow(cast: Cast, root: string): CastRow {
  const page_url = `${root}/cast/${cast.day}/`;
  const url = (path: string) => `${root}/${path}`;
  return {
    day: cast.day,
    title: cast.title,
    ...(cast.audio === undefined ? { video_url: url(castFile(cast)) } : { audio_url: url(cast.audio) }),
    ...(cast.poster === undefined ? {} : { poster_url: url(cast.poster) }),
    embed_url: `${page_url}embed/`,
    page_url,
    duration_s: cast.duration_s,
    bytes: cast.bytes,
    media_type: cast.media_type,
    ...(cast.audio === undefined && cast.chapters === undefined ? {} : { chapters: chaptersOf(cast) }),
    ...(cast.transcript === undefined ? {} : { transcript_url: url(cast.transcript) }),
  };
}
