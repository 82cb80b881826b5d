import { escapeText } from './escape.ts';
import { attributesOf, replaced } from './shortcodes.ts';

export type TemplateKind = 'hugo' | 'liquid';

/** A text without template commands: their output becomes Markdown, or is left out with a note. */
export function plainTemplates(text: string, kind: TemplateKind, notes: string[]): string {
  const left = new Map<string, number>();
  const leave = (name: string) => {
    left.set(name, (left.get(name) ?? 0) + 1);
    return '';
  };
  // The newlines after a code block's start tag and before its end tag are not part of the code.
  const tight = text.replace(AFTER_CODE_TAG, '$1').replace(BEFORE_CODE_END, '$1');
  const plain = kind === 'hugo' ? withoutHugo(tight, leave) : withoutLiquid(tight, leave);
  for (const [name, count] of left) notes.push(`${name} was left out${count === 1 ? '' : ` (${count} times)`}`);
  return plain;
}

const AFTER_CODE_TAG = /(\{(?:%|\{<)-? ?highlight [^%>\n]{0,100}(?:%|>\})\})\n/g;
const BEFORE_CODE_END = /\n(\{(?:%-? ?endhighlight|\{< ?\/ ?highlight))/g;

type Leave = (name: string) => string;

function withoutHugo(text: string, leave: Leave): string {
  const of = (inner: string) => hugoShortcode(inner.trim(), leave);
  return replaced(replaced(text, '{{<', '>}}', of), '{{%', '%}}', of);
}

function hugoShortcode(inner: string, leave: Leave): string {
  // A commented shortcode is shown literally.
  const shown = /^\/\*([\s\S]*)\*\/$/.exec(inner)?.[1];
  if (shown !== undefined) return `{{<${shown}>}}`;
  const [, end, name = ''] = /^(\/?)\s*([\w-]+)/.exec(inner) ?? [];
  const attributes = attributesOf(inner);
  const [, quoted, bare] = /^\/?\s*[\w-]+\s+(?:"([^"]*)"|([^\s"=]+)(?=\s|\/|$))/.exec(inner) ?? [];
  const value = quoted ?? bare ?? '';
  if (name === 'highlight') return end ? '\n```\n' : `\n\`\`\`${value}\n`;
  if (name === 'ref' || name === 'relref') return `/${value.replace(/^\/|\.md(?=#|$)/g, '')}/`;
  if (name === 'youtube') return address(`https://www.youtube.com/watch?v=${attributes.get('id') ?? value}`);
  if (name === 'vimeo') return address(`https://vimeo.com/${attributes.get('id') ?? value}`);
  if (name !== 'figure') return leave(`the shortcode ${name}`);
  const caption = attributes.get('caption') ?? attributes.get('title') ?? '';
  const picture = `<img src="${escapeText(attributes.get('src') ?? '')}" alt="${escapeText(attributes.get('alt') ?? caption)}">`;
  return `\n\n<figure>${picture}<figcaption>${escapeText(caption)}</figcaption></figure>\n\n`;
}

const address = (url: string): string => `\n\n<${encodeURI(url)}>\n\n`;

function withoutLiquid(text: string, leave: Leave): string {
  const tags = replaced(text, '{%', '%}', (inner) => {
    const [start = '', name = ''] = /^-?\s*(\w+)/.exec(inner) ?? [];
    const rest = inner.slice(start.length).trim();
    if (name === 'highlight') return `\n\`\`\`${/^[\w+#-]*/.exec(rest)?.[0] ?? ''}\n`;
    if (name === 'endhighlight') return '\n```\n';
    if (name === 'raw' || name === 'endraw') return '';
    return name.startsWith('end') ? '' : leave(`the tag {% ${name} %}`);
  });
  return replaced(tags, '{{', '}}', (inner) => {
    const [, quoted] = /^\s*["']([^"']*)["']\s*\|\s*(?:relative_url|absolute_url|url|prepend)/.exec(inner) ?? [];
    if (quoted !== undefined) return quoted;
    const name = inner.trim().split(/[\s|]/)[0] ?? '';
    return name === 'site.baseurl' || name === 'site.url' ? '' : leave(`the value {{ ${name} }}`);
  });
}
