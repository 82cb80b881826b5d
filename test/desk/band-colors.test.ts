import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';

const FALLBACK = /@supports not \(color: light-dark\(#000, #fff\)\) \{\s*:root \{([^}]*)\}/;

test('light letters keep a dark band where a browser lacks light-dark()', () => {
  for (const file of ['tokens.css', 'records/tokens.css']) {
    const css = readFileSync(new URL(`../../src/layouts/${file}`, import.meta.url), 'utf8');
    assert.match(css, /--band-ink: oklch\(0\.9/, file);
    const [, fallback = ''] = FALLBACK.exec(css) ?? [];
    assert.match(fallback, /color-scheme: light;/, file);
    assert.match(fallback, /--band: oklch\(0\.2/, file);
  }
});
