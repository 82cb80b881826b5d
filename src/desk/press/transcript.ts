import type { TranscriptPart } from './views.ts';

/** Maximum length of a transcript on a page, in UTF-16 units. An hour of speech has some 60,000. */
const TEXT_MAX = 500_000;
/** Added to the length of each line, for the markup that it may need. */
const MARKUP = 20;
/** A paragraph ends with the first sentence that exceeds this length. */
const PARAGRAPH = 350;
const SENTENCE_END = /[.!?…。！？।؟]["'”’»)\]]*$/u;

const TIMING = /^(?:(\d+):)?(\d\d):(\d\d)[.,]\d{3}[ \t]+-->/;
const ENTITIES: Record<string, string> = { amp: '&', lt: '<', gt: '>', nbsp: '\u00a0', lrm: '\u200e', rlm: '\u200f' };

/**
 * The text of a WebVTT file (w3.org/TR/webvtt1) in paragraphs. Joins the cues; a paragraph has one speaker and ends
 * with the first sentence beyond `length`.
 */
export function transcriptOf(vtt: string, length = PARAGRAPH): TranscriptPart[] {
  const parts: TranscriptPart[] = [];
  let room = TEXT_MAX;
  let before = '';
  for (const { time, text: line } of cueLines(vtt)) {
    const voice = /^<v(?:\.[^\s<>]*)?\s([^<>]*)>/.exec(line.trimStart())?.[1];
    const text = plain(line);
    if (text === '') continue;
    const last = parts.at(-1);
    const speaker = voice === undefined ? (last?.speaker ?? null) : plain(voice);
    room -= MARKUP + (voice?.length ?? 0) + text.length;
    if (room < 0) break;
    const isFull = last !== undefined && last.text.length > length && SENTENCE_END.test(before.slice(-8));
    if (last === undefined || isFull || last.speaker !== speaker) parts.push({ time, speaker, text });
    else last.text += ` ${text}`;
    before = text;
  }
  return parts;
}

/** The lines of the cues, with the second at which each cue begins. Notes, styles and regions have no timing. */
function* cueLines(vtt: string): Iterable<{ time: number; text: string }> {
  let time: number | null = null;
  for (const line of vtt.split(/\r\n|\r|\n/)) {
    const timing = TIMING.exec(line);
    if (timing !== null) {
      const [, hours = '0', minutes, seconds] = timing;
      time = Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds);
    } else if (line === '') time = null;
    else if (time !== null) yield { time, text: line };
  }
}

/** Removes tags, and joins lines. */
function plain(text: string): string {
  return text
    .replace(/<[^<>]*>/g, '')
    .replace(/&(amp|lt|gt|nbsp|lrm|rlm);/g, (_, name: string) => ENTITIES[name] ?? '')
    .replace(/[\p{Cc}\s]+/gu, ' ')
    .trim();
}
