import { SaxesParser } from 'saxes';

/** Throws when a document is not well-formed XML. */
export function assertWellFormed(xml: string): void {
  const parser = new SaxesParser({ xmlns: true });
  parser.on('error', (error) => {
    throw error;
  });
  parser.write(xml).close();
}
