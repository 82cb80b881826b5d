// Which files the runner takes, in what order, and which of them share a process.
import { readFileSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';

/** What a file names that measures its own process or changes it for all of it. */
const ALONE =
  /process\.(?:memoryUsage|cpuUsage|on|once|emit|exit\w*|chdir|umask)|process\.env(?:\.\w+|\[[^\]]*\])? *=[^=]|delete process\.env|setFlagsFromString|collectGarbage|globalThis/;
/** Folders whose files compare the times of texts. */
const ALONE_IN = /\/test\/complexity\//;
/** What files name that share a process because they share what they start. */
const SHARES = /\bsharedStand\(/;
/** What files name that take longer than their text tells, and how many times as long. */
const SLOW = [
  [/chromium|sharedStand/, 4],
  [/\b(?:serve(?:AtOnce|Here)?|runAlone|spawn)\(/, 2],
];
/** The most text in one process, weighed. Larger groups start the same modules less often, and end at more uneven times. */
const GROUP_MAX = 280_000;

/**
 * The files for Node's runner, those first that take longest by their text. Files that touch nothing but what they
 * import share a process, because to start one, to load the same modules and to compile what they run takes longer than
 * most tests. Writes such groups into `folder`.
 */
export function planOf(files, folder) {
  const alone = [];
  const sharing = { files: [], weight: 0 };
  const groups = [];
  for (const file of files) {
    const text = readFileSync(file, 'utf8');
    const weight = text.length * Math.max(1, ...SLOW.map(([names, times]) => (names.test(text) ? times : 1)));
    if (SHARES.test(text)) {
      sharing.files.push(file);
      sharing.weight += weight;
    } else if (ALONE.test(text) || ALONE_IN.test(file)) {
      alone.push({ files: [file], weight });
    } else {
      const last = groups.at(-1);
      if (last !== undefined && last.weight + weight <= GROUP_MAX) {
        last.files.push(file);
        last.weight += weight;
      } else groups.push({ files: [file], weight });
    }
  }
  const shared = sharing.files.length === 0 ? [] : [sharing];
  return [...alone, ...shared, ...groups]
    .sort((one, other) => other.weight - one.weight)
    .map((group, n) => entryOf(group.files, join(folder, `group-${n}.test.mjs`), group === sharing));
}

/** A single file as it is; of several, a file that imports each. */
function entryOf(files, entry, isSharing) {
  const [only] = files;
  if (files.length === 1) return only;
  const urls = files.map((file) => [relative('', file), pathToFileURL(file).href].map((text) => JSON.stringify(text)));
  // In a suite of its own, a file's hooks run before and after its own tests. One file is loaded after the other: of two
  // that wait for the same module, the tests of the second would belong to the first one's suite, which may have ended.
  const lines = isSharing
    ? urls.map(([, url]) => `import ${url};\n`)
    : [
        "import { describe } from 'node:test';\n",
        ...urls.map(
          ([name, url]) => `await new Promise((done) => describe(${name}, () => import(${url}).finally(done)));\n`,
        ),
      ];
  writeFileSync(entry, lines.join(''));
  return entry;
}
