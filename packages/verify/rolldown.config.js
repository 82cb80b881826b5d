import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'rolldown';

/** The files here that replace what src/proof imports of Node, by the import. */
const REPLACED = { 'node:crypto': 'crypto.ts', 'ed25519.ts': 'ed25519.ts', 'ml-dsa-44.ts': 'ml-dsa-44.ts' };

const withoutNode = {
  name: 'without-node',
  resolveId(source, importer = '') {
    const isProof = importer.replaceAll('\\', '/').includes('/src/proof/');
    const own = isProof ? (REPLACED[source] ?? REPLACED[basename(source)]) : undefined;
    return own === undefined ? null : fileURLToPath(new URL(`src/${own}`, import.meta.url));
  },
};

export default defineConfig({
  input: 'src/index.ts',
  platform: 'neutral',
  external: /^@noble\//,
  plugins: [withoutNode],
  resolve: { mainFields: ['module', 'main'] },
  output: { file: 'dist/verify.js', minify: true },
});
