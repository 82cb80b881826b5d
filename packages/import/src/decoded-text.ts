/** Decodes the percent-encoding of a text. Returns invalid encoding unchanged. */
export function decodedText(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
