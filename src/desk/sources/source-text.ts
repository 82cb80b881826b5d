import { decodedPage, pageText } from '../../../packages/import/src/index.ts';

/** How much text is kept of a source, in UTF-16 units, and of how many pages of a PDF. */
export const TEXT_MAX = 4_000_000;
const PAGES_MAX = 1_000;

/**
 * The text of a source: of an HTML page what readers see, of a PDF the text of its pages, of other text all of it. White
 * space is one space, or one line feed where it had one. Null for anything without text. Throws for a PDF that cannot
 * be read.
 */
export async function sourceText(bytes: Uint8Array, contentType: string | null): Promise<string | null> {
  const text = await textIn(bytes, (/^[^;]*/.exec(contentType ?? '')?.[0] ?? '').trim().toLowerCase(), contentType);
  return text === null ? null : tidy(text.slice(0, TEXT_MAX).toWellFormed());
}

async function textIn(bytes: Uint8Array, type: string, contentType: string | null): Promise<string | null> {
  if (type === 'application/pdf' || startsWith(bytes, '%PDF-')) return pdfText(bytes);
  if (type === 'text/html') return pageText(decodedPage(bytes, contentType));
  if (type === 'application/xhtml+xml') return pageText(decodedPage(bytes, contentType), { isXml: true });
  if (/^text\/|^application\/(?:json|xml|[\w.-]+\+(?:json|xml))$/.test(type)) return decodedPage(bytes, contentType);
  // Servers that do not say a type mostly send pages.
  if (type === '' && startsWith(bytes, '<')) return pageText(decodedPage(bytes, contentType));
  return null;
}

function startsWith(bytes: Uint8Array, text: string): boolean {
  return Buffer.from(bytes.subarray(0, text.length)).toString('latin1') === text;
}

async function pdfText(bytes: Uint8Array): Promise<string> {
  const { getDocumentProxy } = await import('unpdf');
  const document = await getDocumentProxy(new Uint8Array(bytes), { disableFontFace: true, verbosity: 0 });
  try {
    const pages: string[] = [];
    let length = 0;
    for (let n = 1; n <= Math.min(document.numPages, PAGES_MAX) && length < TEXT_MAX; n++) {
      const page = await document.getPage(n);
      const { items } = await page.getTextContent();
      const text = items.map((item) => ('str' in item ? `${item.str}${item.hasEOL ? '\n' : ''}` : '')).join('');
      pages.push(text);
      length += text.length;
      page.cleanup();
    }
    return pages.join('\n');
  } finally {
    await document.loadingTask.destroy();
  }
}

/** Characters that show nothing, which no text needs. The others stay, so that readers find the sentence. */
const UNSEEN = /[\p{Cc}\u200b\u2060\ufeff]/gu;

function tidy(text: string): string {
  return text
    .split(/[\n\r\u2028\u2029\f\v]+/)
    .map((line) =>
      line
        .split(/[\s\u0085]+/u)
        .join(' ')
        .replace(UNSEEN, '')
        .trim(),
    )
    .filter(Boolean)
    .join('\n');
}
