import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { build } from 'astro';
import { loadBuild } from '../../src/desk/press/build.ts';
import { PROJECT } from '../../src/shared/project.ts';
import { withFontsNeeded } from '../../src/shared/script-letters.ts';
import type { render as renderAsAstro } from '../support/astro-own.ts';
import { TIMES } from '../support/properties.ts';
import { viewsOf } from '../support/views.ts';
import { ONLY_WIDE } from '../support/wide.ts';

// Within the project, so that what is built finds its packages; outside node_modules, where it would be an installed one.
mkdirSync(join(PROJECT, 'dist'), { recursive: true });
const folder = mkdtempSync(join(PROJECT, 'dist/.astro-own-'));
after(() => rmSync(folder, { recursive: true, force: true }));

/** Builds the same pages for Astro's own runtime, and returns what renders them. */
async function buildAstros(): Promise<{ render: typeof renderAsAstro; routes: string[] }> {
  const { default: config } = await import(pathToFileURL(join(PROJECT, 'astro.config.mjs')).href);
  const entry = {
    name: 'entry',
    applyToEnvironment: ({ name }: { name: string }) => name === 'ssr',
    buildStart(this: { emitFile(file: object): void }) {
      this.emitFile({ type: 'chunk', id: join(PROJECT, 'test/support/astro-own.ts'), fileName: 'own.mjs' });
    },
  };
  const vite = { ...config.vite, plugins: [entry] };
  const options = { configFile: false, root: PROJECT, outDir: folder, cacheDir: join(folder, 'cache') } as const;
  await build({ ...config, ...options, integrations: [], logLevel: 'error', vite });
  return import(pathToFileURL(join(folder, 'server/own.mjs')).href);
}

test('every page is byte for byte what the runtime of Astro prints', { skip: ONLY_WIDE }, async () => {
  const [astros, { render }] = [await buildAstros(), await loadBuild()];
  const views = viewsOf();
  assert.deepEqual([...views.keys()].sort(), astros.routes.sort());
  for (const [route, viewOf] of views) {
    for (let seed = 1; seed <= 20 * TIMES; seed++) {
      const view = viewOf(seed);
      const page = await render(route as never, view as never);
      assert.equal(page, withFontsNeeded(await astros.render(route, view)), `${route} of seed ${seed}`);
    }
  }
});
