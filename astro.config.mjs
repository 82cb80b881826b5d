import { fileURLToPath } from 'node:url';
import node from '@astrojs/node';
import { defineConfig } from 'astro/config';
import { withoutNode } from './packages/verify/without-node.ts';
import { devServer, pressIntegration } from './src/astro/integration.ts';
import { madeCss } from './src/astro/made-css.ts';

/** Builds src/render.ts beside Astro's own entry, so that plain Node can call the pages. */
const renderEntry = () => ({
  name: 'render-entry',
  applyToEnvironment: (environment) => environment.name === 'ssr',
  buildStart() {
    this.emitFile({
      type: 'chunk',
      id: fileURLToPath(new URL('./src/render.ts', import.meta.url)),
      fileName: 'render.mjs',
    });
  },
});

/** Pages print by src/astro/page-runtime.ts. In development they stay Astro's own. */
const pageRuntime = () => ({
  name: 'page-runtime',
  enforce: 'pre',
  apply: 'build',
  resolveId: (id) =>
    id === 'astro/compiler-runtime' ? fileURLToPath(new URL('./src/astro/page-runtime.ts', import.meta.url)) : null,
});

/** The tables of phrases stay files beside the program, which reads them too: bundled, they would be there twice. */
const phrasesApart = () => ({
  name: 'phrases-apart',
  enforce: 'pre',
  apply: 'build',
  applyToEnvironment: ({ name }) => name === 'ssr',
  resolveId: (id, importer = '') =>
    importer.endsWith('/src/phrases/tables.ts') && id.endsWith('.json')
      ? { id: `phrases:${id.slice('./'.length)}`, external: true }
      : null,
  renderChunk: (code, { fileName }) =>
    code.replace(/from "phrases:([\w.]+)"/g, (_, file) => {
      const project = '../'.repeat(fileName.split('/').length + 1);
      return `from "${project}src/phrases/${file}" with { type: "json" }`;
    }),
});

export default defineConfig({
  output: 'server',
  session: false,
  adapter: node({ mode: 'middleware' }),
  integrations: [pressIntegration()],
  server: ({ command }) => (command === 'dev' ? devServer() : {}),
  devToolbar: { enabled: false },
  vite: {
    // What readers verify with is src/proof itself, with noble in place of node:crypto.
    plugins: [
      renderEntry(),
      pageRuntime(),
      phrasesApart(),
      { ...withoutNode, applyToEnvironment: ({ name }) => name === 'client' },
    ],
    css: { postcss: { plugins: [madeCss] } },
    // Of the packages behind charts, pages need a few functions: these become part of the pages.
    ssr: { noExternal: [/^d3-/, 'internmap'] },
    // Papers are pressed to dist/papers: the build empties its own folders there, and no others (`pressIntegration`).
    build: { assetsInlineLimit: 0, emptyOutDir: false },
    // `?worker&url` bundles a script of several files into one; the story page imports it as a module.
    worker: {
      format: 'es',
      plugins: () => [withoutNode],
      rolldownOptions: { output: { entryFileNames: '_astro/[name].[hash].js' } },
    },
    // Found only when a reader asks for the checks, they would reload the page under that reader's hands.
    optimizeDeps: { include: ['@noble/ed25519', '@noble/hashes/sha2.js', 'canonicalize', 'markdown-it'] },
    // A paper may live under a path: what a stylesheet loads is addressed from the stylesheet.
    experimental: {
      renderBuiltUrl: (file, { hostType }) => (hostType === 'css' ? `./${file.split('/').pop()}` : undefined),
    },
  },
});
