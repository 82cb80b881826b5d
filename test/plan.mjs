// Which files the runner takes, in what order, and which of them share a process.
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';

/**
 * What a file names that measures its own process, changes it for all of it, or starts a browser; and work before its
 * first test, which would go on while the tests of other files run and end.
 */
const ALONE =
  /worker_threads|chromium|process\.(?:memoryUsage|cpuUsage|on|once|emit|exit\w*|chdir|umask)|process\.env(?:\.\w+|\[[^\]]*\])? *=[^=]|delete process\.env|setFlagsFromString|collectGarbage|performance\.now|globalThis|^(?:const .* = )?await /m;
/** What files of a folder name that share a process because they share what they start. */
const SHARES = /\bsharedStand\(/;
/** What files name that take longer than their text tells, and how many times as long. */
const SLOW = [
  [/chromium|sharedStand/, 4],
  [/\bserve(?:AtOnce|Here)?\(/, 2],
];
/** Folders whose files compare the times of texts. */
const ALONE_IN = /\/test\/complexity\//;
/** Folders whose files that start processes or servers, or read the environment, keep a process each. */
const STARTS_IN = /\/test\/(?:deploy|net|proof|publish|site)\//;
const STARTS = /child_process|process\.env|support\/(?:chain|\w*-?stand|facilitator|receiver)\b/;
/**
 * The most text in one process, in characters: enough that starting it costs little. libSQL closes a database's files
 * when its statements are collected, and some systems give a process 256 open files.
 */
const GROUP_MAX = 50_000;

/**
 * The files for Node's runner, those first that take longest by their text. Files of one folder that touch nothing but
 * what they import share a process, because to start one and to load the same modules takes longer than most tests.
 * Writes such groups into `folder`.
 */
export function planOf(files, folder) {
  const known = files.map((file) => ({ file, text: readFileSync(file, 'utf8') }));
  const weightOf = (text) => text.length * Math.max(1, ...SLOW.map(([names, times]) => (names.test(text) ? times : 1)));
  const groups = new Map();
  const planned = [];
  for (const { file, text } of known) {
    const length = weightOf(text);
    const isSharing = SHARES.test(text);
    const isAlone = ALONE.test(text) || ALONE_IN.test(file) || (STARTS_IN.test(file) && STARTS.test(text));
    if (!isSharing && isAlone) {
      planned.push({ files: [file], length });
      continue;
    }
    const folderOf = relative('test', file).split('/')[0];
    const of = isSharing ? `${folderOf} shared` : folderOf;
    const group = groups.get(of);
    if (group !== undefined && (isSharing || group.length + length <= GROUP_MAX)) {
      group.files.push(file);
      group.length += length;
    } else {
      groups.set(of, { files: [file], length });
      planned.push(groups.get(of));
    }
  }
  return planned.sort((one, other) => other.length - one.length).map((group, n) => entryOf(group.files, folder, n));
}

/** A single file as it is; of several, a file that imports each. */
function entryOf(files, folder, n) {
  const [only] = files;
  if (files.length === 1) return only;
  const entry = join(folder, `${relative('test', dirname(only)).replaceAll('/', '-')}-${n}.test.mjs`);
  writeFileSync(entry, files.map((file) => `import ${JSON.stringify(pathToFileURL(file).href)};\n`).join(''));
  return entry;
}
