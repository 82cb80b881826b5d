/** An example in the page: a comment with its name, then a fenced block. */
const EXAMPLE = /<!-- example: ([a-z0-9 -]+) -->\n```(\w+)\n([\s\S]*?)```\n/g;

/** The examples of the page, by name. */
export function examplesIn(page: string): [name: string, text: string][] {
  return [...page.matchAll(EXAMPLE)].map(([, name = '', , text = '']) => [name, text]);
}

/** The page with these texts in its examples. */
export function withExamples(page: string, texts: Record<string, string>): string {
  return page.replaceAll(EXAMPLE, (_, name: string, language: string) => {
    const text = texts[name];
    if (text === undefined) throw new Error(`there is no example ${name}`);
    return `<!-- example: ${name} -->\n\`\`\`${language}\n${text}\`\`\`\n`;
  });
}

/** The numbers of the page's sections. */
export function sectionsIn(page: string): Set<string> {
  return new Set([...page.matchAll(/^#{2,3} (\d+(?:\.\d+)?)\.? /gm)].map(([, number = '']) => number));
}

/** The anchors of the page's headings, as GitHub makes them. */
export function anchorsIn(page: string): Set<string> {
  return new Set(
    [...page.matchAll(/^#{1,3} (.+)$/gm)].map(([, heading = '']) =>
      heading
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N} -]/gu, '')
        .replaceAll(' ', '-'),
    ),
  );
}
