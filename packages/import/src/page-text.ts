import { Tokenizer } from 'htmlparser2';

/** Elements whose text readers of the page do not see, or that lead elsewhere. */
const UNSEEN = new Set(
  'script style template noscript nav svg math canvas iframe object select datalist textarea button head'.split(' '),
);
const INLINE = new Set(
  'a abbr b bdi bdo cite code data del dfn em font i ins kbd label mark q s samp small span strong sub sup time tt u var wbr'.split(
    ' ',
  ),
);

/**
 * The text that readers of a page see, one line per block, its title first. Builds no tree, so it takes linear time,
 * however elements are nested. In XHTML (`isXml`) any element may close itself. Never throws.
 */
export function pageText(html: string, { isXml = false } = {}): string {
  const parts: string[] = [];
  let unseen: string | null = null;
  let depth = 0;
  let name = '';
  let isTitle = false;
  const add = (text: string): void => {
    if (unseen === null || isTitle) parts.push(text);
  };
  const begin = (): void => {
    if (name === 'title') {
      isTitle = unseen === null || unseen === 'head';
    } else if (unseen !== null) {
      if (name === unseen) depth++;
      // The end tag of `head` may be omitted.
      if (unseen === 'head' && name === 'body') unseen = null;
    } else if (UNSEEN.has(name)) {
      unseen = name;
      depth = 1;
    }
    if (!INLINE.has(name)) add('\n');
  };
  const tokenizer = new Tokenizer(
    { decodeEntities: true, recognizeSelfClosing: isXml },
    {
      onopentagname(start, end) {
        name = html.slice(start, end).toLowerCase();
      },
      onopentagend: begin,
      // In HTML only SVG and MathML elements can be self-closing.
      onselfclosingtag() {
        if (isXml) {
          if (!INLINE.has(name)) add('\n');
        } else if (name !== 'svg' && name !== 'math') begin();
      },
      onclosetag(start, end) {
        const closed = html.slice(start, end).toLowerCase();
        if (closed === 'title') {
          add('\n');
          isTitle = false;
        } else if (closed === unseen && --depth === 0) unseen = null;
        if (!INLINE.has(closed)) add('\n');
      },
      ontext: (start, end) => add(html.slice(start, end).replace(/\s+/gu, ' ')),
      ontextentity: (codepoint) => add(String.fromCodePoint(codepoint)),
      onattribdata() {},
      onattribentity() {},
      onattribend() {},
      onattribname() {},
      oncdata(start, end, endOffset) {
        if (isXml) add(html.slice(start, end - endOffset));
      },
      oncomment() {},
      ondeclaration() {},
      onend() {},
      onprocessinginstruction() {},
    },
  );
  tokenizer.write(html);
  tokenizer.end();
  return parts.join('');
}
