import { Parser } from 'htmlparser2';
import { ArchiveError } from './archive-error.ts';
import { escapeText, withoutForbidden } from './escape.ts';
import { shown } from './shown.ts';

/** The longest HTML of one piece that is read, in UTF-16 units: five times the longest prose of a piece. */
const HTML_MAX = 2_000_000;
/**
 * The maximum nesting of elements: no editor makes a tenth of it, and each end tag is compared with all open elements.
 */
const DEPTH_MAX = 1_000;
/** The maximum nesting of elements that are kept. Of deeper ones only the text is kept. */
const KEPT_DEPTH_MAX = 16;

/** The most different notes about one piece. */
const NOTES_MAX = 20;

/** Ends a paragraph, whichever elements are open. */
const BOUNDARY = '<p></p>';

/** Elements that Markdown has a form for. */
const KEPT = new Set(
  'p br hr h2 h3 h4 h5 h6 ul ol li blockquote pre code em strong a img figure figcaption table tr th td'.split(' '),
);
const RENAMED: Record<string, string> = {
  h1: 'h2',
  b: 'strong',
  i: 'em',
  cite: 'em',
  tt: 'code',
  kbd: 'code',
  samp: 'code',
};
const VOID = new Set(['br', 'hr', 'img']);
/** Elements that only end a paragraph in Markdown. */
const BLOCKS = new Set(
  'address article aside body center dd details dir div dl dt fieldset footer form header html legend main menu nav search section summary caption'.split(
    ' ',
  ),
);
/** Elements whose content is not part of the piece's text. */
const DROPPED = new Set(
  'applet audio button canvas datalist embed frame frameset head iframe link map math meta noembed noframes noscript object optgroup option script select style svg template textarea title video'.split(
    ' ',
  ),
);
/** Players and frames, which become a link to what they show. */
const FRAMED = new Set(['audio', 'embed', 'iframe', 'video']);
const TEXT_ONLY = new Set(['pre', 'code']);

/** HTML with only the elements that a piece may have, ready to be converted to Markdown. */
export interface TidyHtml {
  html: string;
  /** The addresses of its pictures and sounds, each once, in order, as they are written in `html`. */
  pictures: string[];
  sounds: string[];
  /** What was left out or replaced, for the person who imports. */
  notes: string[];
}

export interface TidyOptions {
  /** The address against which links and pictures are resolved. Without one, relative links are left out. */
  base: string | null;
  /** Whether relative pictures are files of the archive, whose paths stay as they are. */
  hasFiles?: boolean;
  /** Whether empty lines in running text are paragraphs and ends of lines are line breaks, as in old WordPress posts. */
  isAutop?: boolean;
  /** The address of the original of a picture, by its classes, which name it in WordPress. */
  original?(classes: string): string | null;
}

/**
 * Reads any HTML, in time linear in its length, and writes well-formed HTML with the few elements and attributes that
 * Markdown has a form for. Scripts, styles and forms are left out, frames and players become links. Throws
 * `ArchiveError` for HTML that is too long or nested too deep.
 */
export function tidyHtml(html: string, options: TidyOptions): TidyHtml {
  if (html.length > HTML_MAX) {
    throw new ArchiveError(`its HTML has ${html.length} characters, more than ${HTML_MAX}; split the piece`);
  }
  const tidy = new Tidy(options);
  const parser = new Parser(tidy, { decodeEntities: true, recognizeSelfClosing: false });
  parser.write(html);
  parser.end();
  return tidy.result();
}

/** The text of HTML on one line: a headline, a name. */
export function textOfHtml(html: string): string {
  let text = html;
  if (/[<&]/.test(html)) {
    text = '';
    let dropped = 0;
    const parser = new Parser({
      onopentag(name) {
        if (DROPPED.has(name)) dropped++;
      },
      onclosetag(name) {
        if (DROPPED.has(name)) dropped--;
      },
      ontext(part) {
        if (dropped === 0) text += part;
      },
    });
    parser.end(html.slice(0, HTML_MAX));
  }
  return withoutForbidden(text).replace(/\s+/g, ' ').trim();
}

class Tidy {
  readonly #options: TidyOptions;
  readonly #out: string[] = [];
  readonly #pictures = new Set<string>();
  readonly #sounds = new Set<string>();
  readonly #notes = new Map<string, number>();
  /** For each open element, the name that was written; if none was, `BOUNDARY` for a block, or null. */
  readonly #open: (string | null)[] = [];
  /** How many of the open elements were written. */
  #kept = 0;
  /** The depth of the open element whose content is left out; 0 outside of one. */
  #droppedAt = 0;
  #textOnly = 0;
  #links = 0;
  /** The index in `#out` of the open `pre`'s start tag. */
  #preAt = 0;
  /** The open player whose address has not come yet. */
  #player: 'audio' | 'video' | null = null;

  constructor(options: TidyOptions) {
    this.#options = options;
  }

  result(): TidyHtml {
    const notes = [...this.#notes].map(([note, count]) => (count === 1 ? note : `${note} (${count} times)`));
    return { html: this.#out.join(''), pictures: [...this.#pictures], sounds: [...this.#sounds], notes };
  }

  onopentag(given: string, attributes: Record<string, string>): void {
    if (this.#open.length >= DEPTH_MAX) {
      throw new ArchiveError(`its HTML nests more than ${DEPTH_MAX} elements; take the innermost out`);
    }
    const name = RENAMED[given] ?? given;
    if (this.#textOnly > 0 && name === 'code') this.#nameLanguage(attributes.class);
    if (name === 'source') this.#source(attributes.src);
    const isKept = this.#droppedAt === 0 && this.#textOnly === 0 && this.#enter(name, attributes);
    this.#open.push(isKept ? name : BLOCKS.has(name) ? BOUNDARY : null);
    if (isKept) this.#kept++;
    if (this.#droppedAt === 0 && DROPPED.has(name)) this.#droppedAt = this.#open.length;
    if (isKept && TEXT_ONLY.has(name)) this.#textOnly++;
  }

  onclosetag(): void {
    if (this.#droppedAt === this.#open.length) {
      this.#droppedAt = 0;
      if (this.#player !== null) this.#note(`a frame or player (${this.#player}) was left out`);
      this.#player = null;
    }
    const name = this.#open.pop();
    if (name === BOUNDARY && this.#droppedAt === 0) this.#out.push(BOUNDARY);
    if (name === null || name === undefined || name === BOUNDARY) return;
    this.#kept--;
    if (TEXT_ONLY.has(name)) this.#textOnly--;
    if (name === 'a') this.#links--;
    if (!VOID.has(name)) this.#out.push(name === 'pre' ? '</code></pre>' : `</${name}>`);
  }

  ontext(text: string): void {
    if (this.#droppedAt > 0) return;
    const { isAutop } = this.#options;
    if (!isAutop || this.#textOnly > 0 || !this.#isInParagraph()) return this.#text(text);
    for (const [index, paragraph] of text.split(/\r?\n[ \t]*(?:\r?\n[ \t]*)+/).entries()) {
      if (index > 0 && this.#kept === 0) this.#out.push(BOUNDARY);
      for (const [at, line] of paragraph.split(/\r?\n/).entries()) {
        if (at > 0 && line.trim() !== '') this.#out.push('<br>');
        this.#text(line);
      }
    }
  }

  /** An address alone on its line becomes a link, as in WordPress. */
  #text(text: string): void {
    const [, url] = this.#links > 0 || this.#textOnly > 0 ? [] : (/^\s*(https?:\/\/[^\s<>"]+)\s*$/.exec(text) ?? []);
    const escaped = escapeText(text);
    this.#out.push(url === undefined ? escaped : `<a href="${escapeText(url)}">${escaped}</a>`);
  }

  /** Whether the innermost block is a paragraph, in which ends of lines of old posts are line breaks. */
  #isInParagraph(): boolean {
    return this.#open.every(
      (name) =>
        name === null || name === BOUNDARY || name === 'p' || name === 'a' || name === 'em' || name === 'strong',
    );
  }

  /** Writes the start of an element. Returns whether it was written, and so needs its end. */
  #enter(name: string, attributes: Record<string, string>): boolean {
    if (FRAMED.has(name)) this.#frame(name, attributes.src);
    if (DROPPED.has(name)) {
      if (name === 'form' || name === 'script' || name === 'object') this.#note(`a ${name} was left out`);
      return false;
    }
    if (BLOCKS.has(name)) this.#out.push(BOUNDARY);
    if (!KEPT.has(name) || (this.#kept >= KEPT_DEPTH_MAX && !VOID.has(name))) return false;
    if (name === 'img') return this.#picture(attributes);
    if (name === 'a') return this.#link(attributes.href);
    if (name === 'ol' && /^\d{1,6}$/.test(attributes.start ?? '')) this.#out.push(`<ol start="${attributes.start}">`);
    else if (name === 'pre') {
      this.#preAt = this.#out.push('<pre><code>') - 1;
      this.#nameLanguage(attributes.class);
    } else this.#out.push(`<${name}>`);
    return true;
  }

  /** Sets the language of the open `pre`, which its own classes or those of a `code` in it name. */
  #nameLanguage(classes = ''): void {
    const language = /(?:^|\s)(?:language|lang)-([\w+#-]{1,20})/.exec(classes)?.[1];
    if (language !== undefined) this.#out[this.#preAt] = `<pre><code class="language-${escapeText(language)}">`;
  }

  #picture({ src, 'data-src': lazy, alt = '', class: classes = '' }: Record<string, string>): boolean {
    const given = this.#options.original?.(classes) ?? (src?.startsWith('data:') ? lazy : (src ?? lazy));
    if (given === undefined || given.trim() === '') return false;
    const address = this.#resolved(given, this.#options.hasFiles);
    if (address === null) {
      this.#note(`the picture ${shown(given)} was left out: it is not at a web address`);
      return false;
    }
    this.#pictures.add(address);
    this.#out.push(`<img src="${escapeText(address)}" alt="${escapeText(alt.replace(/\s+/g, ' ').trim())}">`);
    return true;
  }

  #link(href: string | undefined): boolean {
    if (href === undefined || this.#links > 0 || /^\s*#/.test(href)) return false;
    const address = this.#resolved(href);
    if (address === null || !/^(?:https?|mailto):/i.test(address)) {
      this.#note(`the link to ${shown(href)} was left out: it is not a web address`);
      return false;
    }
    this.#links++;
    this.#out.push(`<a href="${escapeText(address)}">`);
    return true;
  }

  /** A player without an address takes that of its first `source` element, as in HTML5. */
  #source(src: string | undefined): void {
    if (this.#player === null || src === undefined) return;
    this.#frame(this.#player, src);
    this.#player = null;
  }

  #frame(name: string, src: string | undefined): void {
    if (src === undefined && (name === 'audio' || name === 'video')) {
      this.#player = name;
      return;
    }
    const address = src === undefined ? null : this.#resolved(src);
    const file = src === undefined || name !== 'audio' ? null : this.#resolved(src, this.#options.hasFiles);
    if (file === null && (address === null || !/^https?:/i.test(address))) {
      this.#note(`a frame or player (${name}) was left out`);
      return;
    }
    const shownAddress = address ?? file ?? '';
    if (file === null) this.#note(`a frame or player (${name}) became a link to ${shown(shownAddress)}`);
    else this.#sounds.add(file);
    if (this.#links > 0) return;
    const sound = file === null ? '' : ` data-sound="${escapeText(file)}"`;
    this.#out.push(`<p></p><a${sound} href="${escapeText(shownAddress)}">${escapeText(shownAddress)}</a><p></p>`);
  }

  /** The absolute address of a link or a picture; null if it is not a web address. */
  #resolved(given: string, isFile = false): string | null {
    const base = isFile ? null : this.#options.base;
    const text = given.trim();
    if (/^(?:data|javascript|vbscript|file|blob|about):/i.test(text)) return null;
    const url = URL.parse(text.startsWith('//') ? `https:${text}` : text, base ?? undefined);
    if (url !== null) return url.href;
    return isFile && text !== '' && !/^[a-z][a-z0-9+.-]*:/i.test(text) ? text : null;
  }

  #note(text: string): void {
    if (this.#notes.size >= NOTES_MAX && !this.#notes.has(text)) return;
    this.#notes.set(text, (this.#notes.get(text) ?? 0) + 1);
  }
}
