import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { test } from 'node:test';
import { append } from '../../src/desk/append.ts';
import { pressPapers } from '../../src/desk/jobs/press-run.ts';
import { PaperBody } from '../../src/desk/papers/paper.ts';
import { DEFAULT_THEME, isOfTheme, THEMES } from '../../src/desk/papers/themes.ts';
import { shapeProblems } from '../../src/shared/shape.ts';
import { paperOf } from '../press/paper-copy.ts';
import { PAPER, treeOf } from '../support/app-context.ts';
import { assertSameTree, fullPress } from '../support/full-press.ts';
import { ONLY_WIDE } from '../support/wide.ts';

test('each theme but the default one has its stylesheets', () => {
  for (const theme of THEMES)
    for (const name of [`theme-${theme}`, `theme-${theme}-front`])
      assert.equal(
        existsSync(new URL(`../../src/layouts/${name}.css`, import.meta.url)),
        theme !== DEFAULT_THEME,
        name,
      );
});

test('a paper’s tree has the stylesheets of its theme alone', () => {
  assert.ok(isOfTheme('_astro/theme-wire.B16QE50w.css', 'wire'));
  assert.ok(isOfTheme('_astro/theme-wire-front.B16QE50w.css', 'wire'));
  assert.ok(!isOfTheme('_astro/theme-wire-front.B16QE50w.css', 'magazine'));
  assert.ok(!isOfTheme('_astro/theme-magazine.B16QE50w.css', 'broadsheet'));
  assert.ok(isOfTheme('_astro/paper.B16QE50w.css', 'wire'));
});

test('an unknown theme is refused with the list of those there are', () => {
  const body = { nameplate: 'The Quay', sections: ['City'], theme: 'tabloid' };
  const { error } = PaperBody.safeParse(body);
  assert.ok(error);
  const [problem] = shapeProblems(error, body);
  assert.equal(problem?.field, 'theme');
  for (const name of THEMES) assert.ok(problem.message.includes(name), problem.message);
});

test('a paper changes its theme: the press leaves what a full press would, and nothing of the theme before', {
  skip: ONLY_WIDE,
}, async (t) => {
  const { app, folder, clock, tree } = await paperOf(t, 12);
  const headlines = (page: string) => new Set(page.match(/(?<=href=")[^"]*\/stories\/[^"/]+(?=\/")/g));
  const all = headlines(treeOf(tree).get('index.html') ?? '');
  for (const theme of ['magazine', 'wire', 'broadsheet'] as const) {
    const body = { ...(app.store.desk.record(PAPER, 'paper', '') as object), theme };
    app.store.database.transact(() =>
      append(app.store.desk, { type: 'record', at: app.clock.now(), paper: PAPER, kind: 'paper', name: '', body }),
    );
    await pressPapers(app, { cards: false });
    const pressed = treeOf(tree);
    assertSameTree(pressed, await fullPress(t, folder, clock, false));
    const sheets = [...pressed.keys()].filter((path) => path.includes('/theme-'));
    assert.equal(sheets.length, theme === DEFAULT_THEME ? 0 : 2, sheets.join());
    assert.ok(sheets.every((path) => path.includes(theme)));
    // A front of another form has at least the pieces of this one.
    const shown = headlines(pressed.get('index.html') ?? '');
    assert.ok([...all].every((path) => shown.has(path)) || theme === 'magazine', theme);
  }
});
