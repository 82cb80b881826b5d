// `npm run pack [FOLDER]`: makes the tarball of the package `broadsheet` in FOLDER, or here: the program as JavaScript,
// the built pages and what both read at run time. Folders stay as they are in a checkout, so paths between files do too.
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { isBuiltin, stripTypeScriptTypes } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'rolldown';
import { parseSync } from 'rolldown/utils';
import { commitOf } from '../../bin/commit.mjs';
import { currentPages } from '../../src/cmd/current-pages.ts';

const PROJECT = fileURLToPath(new URL('../../', import.meta.url));

/** The program's entry, and the pages, which it loads by path. All other code is imported by these two. */
const ENTRIES = ['bin/broadsheet.mjs', 'dist/server/render.mjs'];
/** Code that is bundled into one file, with the many packages that only it imports, because it is seldom used. */
const BUNDLE = 'packages/import/src/index.ts';
/**
 * Packages that are bundled into one file each, because they have many or large dependencies; the path of that file.
 */
const INSIDE: Record<string, string> = {
  compression: 'inside/compression.js',
  feed: 'inside/feed.js',
  'prom-client': 'inside/prom-client.js',
  turndown: 'inside/turndown.js',
};
/** Files that the code reads. */
const FILES = [
  'CHANGELOG.md',
  'LICENSE',
  'api/openapi/playground',
  'content/agreement.md',
  'deploy/engines',
  'dist/client',
  'dist/server/source.txt',
  'docs',
  'src/desk/ingest/samples',
  'src/store/migrations',
];
/** Documents for those who change the program. */
const LEFT_OUT = /\/docs\/(?:decisions|architecture\.)/;

const OWN = /(['"])(\.{1,2}\/[^'"\n]+\.(?:ts|m?js|json(?=['"] with\b)))\1/g;
/** Other imports. Code samples in pages never begin a line, and so do not match. */
const OTHERS =
  /^(?:import|export|\})(?:[^'"`]* from)? ['"]([a-z@][\w@/.-]*)['"];$|\bimport(?:\.meta\.resolve)?\(['"]([a-z@][\w@/.-]*)['"]|'(@fontsource[\w-]*\/[\w-]+)'/gm;

/**
 * A package of 12 MB of which pages need two files, and whose own dependency reports every installation to its maker.
 * Only these files come with our package (npm's `bundleDependencies`).
 */
const BUNDLED = {
  name: 'swagger-ui-dist',
  files: ['LICENSE', 'NOTICE', 'swagger-ui.css', 'swagger-ui-bundle.js'],
};

interface Manifest {
  version: string;
  dependencies: Record<string, string>;
  [field: string]: unknown;
}

const json = (file: string) => JSON.parse(readFileSync(join(PROJECT, file), 'utf8'));

/** The packed text of each code file except the bundle, by its path in the checkout. */
function packedCode(): Map<string, string> {
  const code = new Map<string, string>();
  const waiting = [...ENTRIES];
  for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) {
    if (code.has(file) || file === BUNDLE) continue;
    const source = readFileSync(join(PROJECT, file), 'utf8');
    const text = file.endsWith('.ts') ? stripTypeScriptTypes(source) : source;
    for (const [, , path = ''] of text.matchAll(OWN)) waiting.push(join(dirname(file), path));
    const own = text.replace(OWN, (_, quote, path) => quote + asJavaScript(path) + quote);
    code.set(
      file,
      own.replace(OTHERS, (all, name) => {
        const inside = INSIDE[name];
        return inside === undefined ? all : all.replace(`'${name}'`, `'${pathBetween(file, inside)}'`);
      }),
    );
  }
  return code;
}

/** The relative path of a file for an import in another one. */
const pathBetween = (from: string, to: string): string => relative(dirname(from), to).replace(/^(?!\.)/, './');

/** Bundles code into the package's `file`, without modules that have a file of their own, and without dependencies. */
async function bundled(input: string, file: string, dependencies: Record<string, string>): Promise<string> {
  const isOutside = (id: string) =>
    id in INSIDE || Object.keys(dependencies).some((name) => id === name || id.startsWith(`${name}/`));
  const paths = Object.fromEntries(Object.entries(INSIDE).map(([name, one]) => [name, pathBetween(file, one)]));
  const { output } = await build({
    input,
    platform: 'node',
    external: (id) => isBuiltin(id) || isOutside(id),
    output: { minify: true, codeSplitting: false, paths },
    write: false,
  });
  return output[0].code;
}

const asJavaScript = (path: string): string => path.replace(/\.ts$/, '.js');

/** The packages that the code imports, with the exact versions that the tests ran with. */
function dependenciesOf(code: Iterable<string>): Record<string, string> {
  const { dependencies }: Manifest = json('package.json');
  const { packages } = json('package-lock.json');
  const imported = new Set<string>();
  for (const text of code) {
    for (const [, named, called, font] of text.matchAll(OTHERS)) {
      const [scope = '', name = ''] = (named ?? called ?? font ?? '').split('/');
      if (!isBuiltin(scope)) imported.add(scope.startsWith('@') ? `${scope}/${name}` : scope);
    }
  }
  return Object.fromEntries(
    [...imported].sort().map((name) => {
      if (dependencies[name] === undefined) throw new Error(`the code imports ${name}, which is not in dependencies`);
      return [name, packages[`node_modules/${name}`].version];
    }),
  );
}

function manifestOf(dependencies: Record<string, string>): Manifest {
  const { name, version, description, license, type, engines, bin }: Manifest = json('package.json');
  return {
    ...{ name, version, description, license, type, engines, bin, dependencies },
    bundleDependencies: [BUNDLED.name],
  };
}

function bundlePackage(folder: string): void {
  const from = `node_modules/${BUNDLED.name}`;
  for (const file of BUNDLED.files) cpSync(join(PROJECT, from, file), join(folder, from, file));
  const { name, version, license }: Manifest = json(`${from}/package.json`);
  writeFile(folder, `${from}/package.json`, asJson({ name, version, license }));
}

const asJson = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;

function writeFile(folder: string, file: string, text: string): void {
  mkdirSync(dirname(join(folder, file)), { recursive: true });
  writeFileSync(join(folder, file), text);
}

/** Code without comments, which take a tenth of the package and help only its developers. Keeps line numbers. */
function withoutComments(file: string, text: string): string {
  if (file.endsWith('.json')) return text;
  let code = '';
  let done = 0;
  for (const { start, end } of parseSync(asJavaScript(file), text).comments) {
    // The first line of a program says what runs it.
    if (start === 0 && text.startsWith('#!')) continue;
    code += text.slice(done, start) + (text.slice(start, end).replace(/[^\n]+/g, '') || ' ');
    done = end;
  }
  return code + text.slice(done);
}

/** Writes all files of the package into a folder. */
async function stage(folder: string): Promise<void> {
  const code = packedCode();
  const dependencies = dependenciesOf(code.values());
  code.set(BUNDLE, await bundled(join(PROJECT, BUNDLE), BUNDLE, dependencies));
  for (const [name, file] of Object.entries(INSIDE))
    code.set(file, await bundled(fileURLToPath(import.meta.resolve(name)), file, dependencies));
  for (const [file, text] of code) writeFile(folder, asJavaScript(file), withoutComments(file, text));
  for (const file of FILES) {
    cpSync(join(PROJECT, file), join(folder, file), {
      recursive: true,
      filter: (path) => !LEFT_OUT.test(path),
    });
  }
  cpSync(join(PROJECT, 'tools/pack/README.md'), join(folder, 'README.md'));
  bundlePackage(folder);
  writeFile(folder, 'package.json', asJson(manifestOf(dependencies)));
  writeFile(folder, 'bin/commit.txt', commitOf(PROJECT) ?? '');
  const notice = join(PROJECT, 'tools/third-party.mjs');
  writeFile(folder, 'THIRD-PARTY.txt', execFileSync(process.execPath, [notice], { encoding: 'utf8' }));
}

const target = resolve(process.argv[2] ?? '.');
if (!existsSync(target)) throw new Error(`${target}: there is no such folder; make it first`);
await currentPages().built;
const folder = mkdtempSync(join(tmpdir(), 'broadsheet-pack-'));
try {
  await stage(folder);
  const args = ['pack', '--silent', '--ignore-scripts', '--pack-destination', target];
  const name = execFileSync('npm', args, { cwd: folder, encoding: 'utf8' }).trim();
  console.log(join(target, name));
} finally {
  rmSync(folder, { recursive: true, force: true });
}
