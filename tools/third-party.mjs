// Prints the notice of third-party software for a release: every production package of the lock file and every font,
// with its licence and the text of that licence. Run `npm ci` first. Exits with 1 if a licence is not in ALLOWED.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const PROJECT = fileURLToPath(new URL('../', import.meta.url));
const FONTS = 'src/layouts/typefaces';

/**
 * SPDX identifiers of licences that permit distribution beside Apache-2.0 code. The weak copyleft of MPL-2.0 and
 * LGPL-3.0 covers the packages themselves, which are used unmodified as separate files.
 */
const ALLOWED = new Set([
  ...['0BSD', 'Apache-2.0', 'BSD-2-Clause', 'BSD-3-Clause', 'BlueOak-1.0.0', 'CC0-1.0', 'ISC', 'MIT', 'MIT-0'],
  ...['LGPL-3.0-or-later', 'MPL-2.0', 'OFL-1.1', 'PSF-2.0', 'Python-2.0'],
]);
const LICENCE_FILE = /^(?:licen[cs]e|copying|notice|third-party)/i;

const read = (...path) => readFileSync(join(PROJECT, ...path), 'utf8');
const { packages } = JSON.parse(read('package-lock.json'));
const nameOf = (path) => path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);

/** Variants for other platforms are not installed; for some, only the package that needs them declares the licence. */
function licenceOf(path) {
  const installed = join(PROJECT, path, 'package.json');
  const needing = Object.values(packages).find(({ optionalDependencies = {} }) => nameOf(path) in optionalDependencies);
  const declared =
    packages[path].license ?? (existsSync(installed) ? JSON.parse(readFileSync(installed)).license : undefined);
  return declared ?? needing?.license ?? 'none';
}

function textsIn(folder) {
  if (!existsSync(join(PROJECT, folder))) return [];
  return readdirSync(join(PROJECT, folder))
    .filter((file) => LICENCE_FILE.test(file))
    .map((file) => read(folder, file));
}

/** The fonts, whose packages are dependencies of tools/fonts, where the subsets are made. */
function fonts() {
  const made = Object.entries(JSON.parse(read('tools/fonts/package-lock.json')).packages);
  return readdirSync(join(PROJECT, FONTS))
    .filter((file) => file.endsWith('-latin.woff2'))
    .map((file) => {
      const family = file.slice(0, -'-latin.woff2'.length);
      const found = made.find(([path]) => path.includes('@fontsource') && path.endsWith(`/${family}`));
      if (found === undefined) throw new Error(`tools/fonts/package-lock.json has no package of the font ${family}`);
      const [path, { version, license }] = found;
      return {
        title: `${nameOf(path)} ${version} (subsets in ${FONTS})`,
        licence: license,
        texts: [read(FONTS, 'LICENSE.txt')],
      };
    });
}

const production = Object.entries(packages)
  .filter(([path, { dev, link }]) => path.startsWith('node_modules/') && !dev && !link)
  .map(([path, { version }]) => ({
    title: `${nameOf(path)} ${version}`,
    licence: licenceOf(path),
    texts: textsIn(path),
  }));
const all = [...production, ...fonts()].sort((a, b) => (a.title < b.title ? -1 : 1));

const refused = all.filter(({ licence }) => !licence.split(' AND ').every((one) => ALLOWED.has(one)));
for (const { title, licence } of refused) {
  const cure = 'add it to ALLOWED in tools/third-party.mjs if it permits distribution, or use another package';
  console.error(`third-party: ${title} has the licence ${licence}; ${cure}`);
}
if (refused.length > 0) process.exit(1);

/** Packages by licence text: those that share one, such as packages of one repository, are listed above it. */
const byText = new Map();
for (const { title, texts } of all) {
  for (const text of texts) {
    const key = text.replaceAll('\r\n', '\n').trim();
    byText.set(key, new Set([...(byText.get(key) ?? []), title]));
  }
}

console.log('Broadsheet includes or installs the following third-party software and fonts.\n');
for (const title of new Set(all.map(({ title, licence }) => `${title}: ${licence}`))) console.log(title);
for (const [text, titles] of byText) {
  console.log(`\n${'='.repeat(80)}\n${[...titles].join('\n')}\n${'-'.repeat(80)}\n${text}`);
}
