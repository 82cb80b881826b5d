import { SaxesParser } from 'saxes';

/** Throws unless a document is well-formed XML. */
export function assertWellFormed(xml: string): void {
  const parser = new SaxesParser({ xmlns: true });
  parser.on('error', (error) => {
    throw error;
  });
  parser.write(xml).close();
}
