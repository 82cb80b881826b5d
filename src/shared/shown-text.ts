import { MARKS_MAX, tooManyMarksAt } from './combining-marks.ts';
import { quoted } from './quoted.ts';
import type { Problem } from './shape.ts';

/** The most code points that a message names. */
const NAMED_MAX = 5;

/** The Unicode names of invisible characters. */
const NAMES: ReadonlyMap<number, string> = new Map([
  [0x20, 'SPACE'],
  [0xa0, 'NO-BREAK SPACE'],
  [0xad, 'SOFT HYPHEN'],
  [0x34f, 'COMBINING GRAPHEME JOINER'],
  [0x61c, 'ARABIC LETTER MARK'],
  [0x115f, 'HANGUL CHOSEONG FILLER'],
  [0x1160, 'HANGUL JUNGSEONG FILLER'],
  [0x180e, 'MONGOLIAN VOWEL SEPARATOR'],
  [0x200b, 'ZERO WIDTH SPACE'],
  [0x200c, 'ZERO WIDTH NON-JOINER'],
  [0x200d, 'ZERO WIDTH JOINER'],
  [0x200e, 'LEFT-TO-RIGHT MARK'],
  [0x200f, 'RIGHT-TO-LEFT MARK'],
  [0x202a, 'LEFT-TO-RIGHT EMBEDDING'],
  [0x202b, 'RIGHT-TO-LEFT EMBEDDING'],
  [0x202c, 'POP DIRECTIONAL FORMATTING'],
  [0x202d, 'LEFT-TO-RIGHT OVERRIDE'],
  [0x202e, 'RIGHT-TO-LEFT OVERRIDE'],
  [0x2060, 'WORD JOINER'],
  [0x2066, 'LEFT-TO-RIGHT ISOLATE'],
  [0x2067, 'RIGHT-TO-LEFT ISOLATE'],
  [0x2068, 'FIRST STRONG ISOLATE'],
  [0x2069, 'POP DIRECTIONAL ISOLATE'],
  [0x2800, 'BRAILLE PATTERN BLANK'],
  [0x3000, 'IDEOGRAPHIC SPACE'],
  [0x3164, 'HANGUL FILLER'],
  [0xfeff, 'ZERO WIDTH NO-BREAK SPACE'],
  [0xffa0, 'HALFWIDTH HANGUL FILLER'],
]);

/** Interlinear annotations and the Braille blank show nothing either, although they are not `Default_Ignorable`. */
const UNSEEN = /^[\p{Default_Ignorable_Code_Point}\p{Z}\s\u2800\ufff9-\ufffb]+$/u;
const DIRECTION = /[\u202a-\u202e\u2066-\u2069]/g;
const POP_EMBEDDING = '\u202c';
const POP_ISOLATE = '\u2069';

/**
 * The problems of a line that readers see: it shows nothing, or it leaves a bidirectional embedding open, which
 * reorders the text beside it (UAX #9, sections 3.1.2 to 3.1.4).
 */
export function shownProblems(field: string, text: string): Problem[] {
  return [unseenProblem(field, text), directionProblem(field, text)].filter((problem) => problem !== null);
}

/** The problem of a text that consists of characters no reader sees; null for any other, and for a blank one. */
export function unseenProblem(field: string, text: string): Problem | null {
  if (text.trim() === '' || !UNSEEN.test(text)) return null;
  const found = [...new Set(text)].slice(0, NAMED_MAX + 1);
  const named = found.slice(0, NAMED_MAX).map((sign) => codePoint(sign));
  const message = `this field shows nothing: it has only ${named.join(', ')}${found.length > NAMED_MAX ? ' and others' : ''}; write a text that readers can see`;
  return problem(field, 'invisible', message);
}

function directionProblem(field: string, text: string): Problem | null {
  const open: { sign: string; offset: number }[] = [];
  for (const { 0: sign, index: offset } of text.matchAll(DIRECTION)) {
    if (sign !== POP_EMBEDDING && sign !== POP_ISOLATE) {
      open.push({ sign, offset });
      continue;
    }
    const last = open.pop();
    if (last === undefined) return unbalanced(field, { sign, offset }, 'closes nothing');
    if (last.sign >= '\u2066' !== (sign === POP_ISOLATE)) return unbalanced(field, last, 'is never closed');
  }
  const first = open[0];
  return first === undefined ? null : unbalanced(field, first, 'is never closed');
}

function unbalanced(field: string, { sign, offset }: { sign: string; offset: number }, what: string): Problem {
  const message = `${codePoint(sign)} at character ${offset + 1} ${what}, so it changes the direction of the text around it; take it out, or write the pair`;
  return problem(field, 'unbalanced_direction', message, offset);
}

/** Such as `U+202E RIGHT-TO-LEFT OVERRIDE`. */
function codePoint(sign: string): string {
  const point = sign.codePointAt(0) ?? 0;
  const name = NAMES.get(point);
  return `U+${point.toString(16).toUpperCase().padStart(4, '0')}${name === undefined ? '' : ` ${name}`}`;
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: finding them is the point
const CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: finding them is the point
const CONTROL_OR_BREAK = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/;

/** Whether a text is well-formed Unicode without control characters and line breaks. */
export function isLine(text: string): boolean {
  return text.isWellFormed() && !CONTROL_OR_BREAK.test(text);
}

/** Problems of a text of several lines; none for null. */
export function paragraphProblems(field: string, text: string | null, max: number): Problem[] {
  return text === null ? [] : [...textProblems(field, text, max), ...shownProblems(field, text)];
}

/** Problems of a single-line text. */
export function lineProblems(field: string, text: string, max: number, required: boolean): Problem[] {
  const problems = textProblems(field, text, max, CONTROL_OR_BREAK);
  if (required && text === '') {
    problems.push(problem(field, 'required', 'this field is empty; write it'));
  }
  return [...problems, ...shownProblems(field, text)];
}

/** The problems of a text, whatever its lines. */
export function textProblems(field: string, text: string, max: number, forbidden = CONTROL): Problem[] {
  const problems: Problem[] = [];
  if (field === 'prose' && text === '') {
    problems.push(problem(field, 'required', 'the piece has no text; write it'));
  }
  if (text.length > max) {
    const message = `${text.length} characters are more than ${max}; shorten it (it begins ${quote(text.slice(0, 40))})`;
    problems.push(problem(field, 'too_long', message));
  }
  const control = forbidden.exec(text);
  if (control !== null) {
    const code = control[0].charCodeAt(0).toString(16).toUpperCase().padStart(4, '0');
    const message = `the control character U+${code} is at character ${control.index + 1}; remove it`;
    problems.push(problem(field, 'control_character', message, control.index));
  }
  const marks = tooManyMarksAt(text);
  if (marks !== null) {
    const message = `more than ${MARKS_MAX} combining marks or invisible characters in a row; remove those that no reader sees`;
    problems.push(problem(field, 'combining_marks', message, marks));
  }
  if (!text.isWellFormed()) {
    const message = 'it contains an unpaired surrogate; write it again in UTF-8';
    problems.push(problem(field, 'not_unicode', message));
  }
  return problems;
}

/** A value in a message, of 80 characters at the most. */
export function quote(text: string): string {
  return quoted(text.length > 80 ? `${text.slice(0, 77)}…` : text);
}

/** A broken rule of a field; `offset` is the position in its text, in UTF-16 units. */
export function problem(field: string, rule: string, message: string, offset?: number): Problem {
  return { field, rule, message, ...(offset === undefined ? {} : { offset }) };
}
