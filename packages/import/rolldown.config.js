import { defineConfig } from 'rolldown';
import manifest from './package.json' with { type: 'json' };

export default defineConfig({
  input: 'src/index.ts',
  platform: 'node',
  external: Object.keys(manifest.dependencies).map((name) => new RegExp(`^${name}(?:/|$)`)),
  output: { file: 'dist/import.js' },
});
