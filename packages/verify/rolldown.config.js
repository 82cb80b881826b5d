import { defineConfig } from 'rolldown';
import { withoutNode } from './without-node.ts';

export default defineConfig({
  input: 'src/index.ts',
  platform: 'neutral',
  external: /^@noble\//,
  plugins: [withoutNode],
  resolve: { mainFields: ['module', 'main'] },
  output: { file: 'dist/verify.js', minify: true },
});
