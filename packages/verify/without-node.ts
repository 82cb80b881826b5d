import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The files here that replace imports of src/proof that need Node, by the import. */
const REPLACED: Record<string, string> = {
  'node:crypto': 'crypto.ts',
  'ed25519.ts': 'ed25519.ts',
  'ml-dsa-44.ts': 'ml-dsa-44.ts',
};

/** A plugin for Rolldown and Vite that bundles `src/proof` for browsers, in this package and in the pages. */
export const withoutNode = {
  name: 'without-node',
  enforce: 'pre' as const,
  /** The file that replaces an import; null for any other import. */
  resolveId(source: string, importer = ''): string | null {
    const isProof = `${importer} ${source}`.replaceAll('\\', '/').includes('/proof/');
    const own = isProof ? (REPLACED[source] ?? REPLACED[basename(source)]) : undefined;
    return own === undefined ? null : fileURLToPath(new URL(`src/${own}`, import.meta.url));
  },
};
