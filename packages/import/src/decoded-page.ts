/** How far into a page HTML looks for its encoding, in bytes. */
const DECLARATION = 1_024;

/** Text that is valid UTF-8 is in UTF-8, whatever the page says; it may end within a character. */
export function decodedPage(bytes: Uint8Array, contentType: string | null): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: true });
  } catch {
    const start = new TextDecoder('latin1').decode(bytes.subarray(0, DECLARATION));
    const mark = start.startsWith('\u00ff\u00fe') ? 'utf-16le' : start.startsWith('\u00fe\u00ff') ? 'utf-16be' : null;
    const named = [contentType ?? '', start].map((text) => /charset\s*=\s*["']?\s*([\w.:-]{1,40})/i.exec(text)?.[1]);
    const label = mark ?? named.find((name) => name !== undefined) ?? 'windows-1252';
    try {
      return new TextDecoder(label).decode(bytes);
    } catch {
      return new TextDecoder('windows-1252').decode(bytes);
    }
  }
}
