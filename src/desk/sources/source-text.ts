import { decodedPage, pageText } from '../../../packages/import/src/index.ts';

/** How much of a source's text is kept, in UTF-16 units, and how many pages of a PDF are read. */
export const TEXT_MAX = 4_000_000;
const PAGES_MAX = 1_000;

/**
 * The text of a source: what readers see of an HTML page, the text of the pages of a PDF, the whole of other text.
 * White space becomes a single space, or a line feed if it contained one. Returns null for anything without text.
 * Throws for a PDF that cannot be read.
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
  // Servers that send no type mostly send pages.
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

/** Invisible characters that no text needs. Other characters stay, so that readers can find the sentence. */
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
