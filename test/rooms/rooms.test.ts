import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { withoutNode } from '../../packages/verify/without-node.ts';
import { PAGE_CODE } from '../../src/desk/press/build.ts';
import { drawing } from './drawing.ts';
import { ALONE, GROUND, PACKAGES, ROOMS } from './rooms.ts';

const PROJECT = fileURLToPath(new URL('../../', import.meta.url));

interface Import {
  /** From the project's root, as `to` where it is a file of the project; else the package's name. */
  from: string;
  to: string;
  isType: boolean;
  isOwn: boolean;
}

const files = ['src', 'api', 'test', 'bin', 'packages/import/src'].flatMap((folder) =>
  readdirSync(join(PROJECT, folder), { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .filter((name) => /\.(?:ts|astro|js|mjs)$/.test(name)),
);
const imports = files.flatMap(importsOf);

/** Biome's formatter writes each import in one of these forms. */
function importsOf(from: string): Import[] {
  const text = readFileSync(join(PROJECT, from), 'utf8');
  const found = text.matchAll(
    /^(?:import|export) (type )?(?:([^'";]*?) from )?'([^']+)';$|\bimport\((?:\/\*[^*]*\*\/ )?'([^']+)'\)/gm,
  );
  return [...found].map(([, type, names, named, called]) => {
    const name = (named ?? called ?? '').replace(/\?.*$/, '');
    const isOwn = name.startsWith('.');
    const to = isOwn ? relative(PROJECT, join(PROJECT, dirname(from), name)) : name;
    return { from, to, isType: type !== undefined || isOfTypes(names), isOwn };
  });
}

/** Whether an import names types alone: `{ type A, type B }`. */
function isOfTypes(names = ''): boolean {
  const [, list] = /^\{(.*)\}$/s.exec(names.trim()) ?? [];
  return list?.split(',').every((name) => /^\s*(?:type\s.*)?$/.test(name)) ?? false;
}

/** The room of a file: the innermost that has a name in the table. */
function roomOf(file: string): string | undefined {
  return Object.keys(ROOMS)
    .filter((room) => file === room || file.startsWith(`${room}/`))
    .toSorted((a, b) => b.length - a.length)[0];
}

const isIn = (file: string, room: string) => file === room || file.startsWith(`${room}/`);

test('every file belongs to a room', () => {
  const homeless = files.filter((file) => !/^(?:test|bin)\//.test(file));
  assert.deepEqual(
    homeless.filter((file) => roomOf(file) === undefined && file !== 'src/locals.d.ts'),
    [],
  );
});

test('a room imports what its list allows, and nothing else', () => {
  const faults = imports
    .filter(({ from, isOwn }) => isOwn && !/^(?:test|bin)\//.test(from))
    .filter(({ from, to, isType }) => {
      const room = roomOf(from);
      const target = roomOf(to);
      if (room === target) return false;
      if (room === undefined) return true;
      const ground = ALONE.includes(room) ? [] : GROUND;
      return ![...ground, ...(ROOMS[room]?.imports ?? [])].some((allowed) => {
        const room = allowed.replace(/^types /, '');
        if (allowed !== room && !isType) return false;
        return isIn(to, room) && (target === room || room.includes('.'));
      });
    });
  assert.deepEqual(
    faults.map(({ from, to, isType }) => `${from} imports ${isType ? 'a type of ' : ''}${to}`),
    [],
  );
});

test('a technology is used in its own place', () => {
  const faults = imports.filter(({ from, to, isOwn }) => {
    const rooms = Object.entries(PACKAGES).find(
      ([name]) => to === name || to.startsWith(`${name}/`) || to.startsWith(`${name}:`),
    );
    if (isOwn || rooms === undefined || from.startsWith('test/')) return false;
    return !rooms[1].some((room) => isIn(from, room));
  });
  assert.deepEqual(faults, []);
});

test('pages, and all that a browser runs, import nothing of Node but what their bundle replaces', () => {
  const values = Map.groupBy(
    imports.filter(({ isType, from, to }) => !isType && withoutNode.resolveId(to, from) === null),
    ({ from }) => from,
  );
  const reached = new Set(files.filter((file) => /^src\/(?:pages|layouts|parts)\//.test(file)));
  // The set grows while it is walked.
  for (const file of reached) for (const { to, isOwn } of values.get(file) ?? []) if (isOwn) reached.add(to);
  const faults = [...reached]
    .flatMap((file) => values.get(file) ?? [])
    .filter(({ to }) => to.startsWith('node:') || builtinModules.includes(to));
  assert.deepEqual(faults, []);
});

test('nothing imports the tests, and properties run with the seed of the suite', () => {
  assert.deepEqual(
    imports.filter(({ from, to, isOwn }) => isOwn && !from.startsWith('test/') && to.startsWith('test/')),
    [],
  );
  assert.deepEqual(
    imports.filter(({ from, to }) => to === 'fast-check' && from !== 'test/support/properties.ts'),
    [],
  );
});

test('no file imports itself by way of others, not even for a type', () => {
  const next = Map.groupBy(
    imports.filter(({ isOwn }) => isOwn),
    ({ from }) => from,
  );
  const done = new Set<string>();
  const walk = (file: string, path: readonly string[]): string[] => {
    if (path.includes(file)) return [[...path.slice(path.indexOf(file)), file].join(' → ')];
    if (done.has(file)) return [];
    const found = (next.get(file) ?? []).flatMap(({ to }) => walk(to, [...path, file]));
    done.add(file);
    return found;
  };
  assert.deepEqual(
    files.flatMap((file) => walk(file, [])),
    [],
  );
});

test('the drawing shows the rooms of the table', () => {
  const stored = readFileSync(join(PROJECT, 'docs/architecture.svg'), 'utf8');
  assert.equal(stored, drawing(), 'run `node test/rooms/drawing.ts > docs/architecture.svg`');
});

test('no folder of the code has more than forty files', () => {
  const folders = Map.groupBy(
    files.filter((file) => !file.startsWith('test/')),
    (file) => dirname(file),
  );
  const full = [...folders].filter(([, names]) => names.length > 40).map(([folder]) => folder);
  assert.deepEqual(full, []);
});

test('the digest of the pages covers all that they are built from', () => {
  const reached = new Set(files.filter((file) => /^src\/(?:pages|layouts|parts)\//.test(file)));
  for (const file of reached)
    for (const { from, to, isOwn, isType } of imports) if (from === file && isOwn && !isType) reached.add(to);
  const uncovered = [...reached].filter(
    (file) => /\.(?:ts|astro|js)$/.test(file) && !PAGE_CODE.some((room) => isIn(file, room)),
  );
  assert.deepEqual(uncovered, []);
});
