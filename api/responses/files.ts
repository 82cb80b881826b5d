import { cacheControl, contentType, securityHeaders } from '../../src/desk/press/feeds/headers.ts';
import { plainFile } from '../../src/shared/files/plain-file.ts';

/** The headers of an address under a paper's root, the same as in the paper's `_headers` file. */
export function fileHeaders(
  path: string,
  root: string,
  embedScripts: readonly string[],
  analytics?: string,
): Record<string, string> {
  const type = contentType(path);
  return {
    ...securityHeaders(path, { root, embed_scripts: embedScripts, analytics }),
    'Cache-Control': cacheControl(path),
    ...(type === null ? {} : { 'Content-Type': type }),
  };
}

/** The file of an address: the file itself, or its folder's index; null when neither exists. */
export function fileAt(folder: string, path: string): string | null {
  const plain = decoded(path);
  if (plain === null || !mayBeServed(plain)) return null;
  const wanted = plain.endsWith('/') ? `${plain}index.html` : plain;
  return isFile(folder, wanted) ? wanted : null;
}

/** Whether an address names a folder with an index and only lacks the trailing slash. */
export function isFolder(folder: string, path: string): boolean {
  return !path.endsWith('/') && fileAt(folder, `${path}/`) !== null;
}

function decoded(path: string): string | null {
  try {
    return decodeURIComponent(path);
  } catch {
    return null;
  }
}

/** Rejects paths that leave the folder, alternative spellings, hidden files, and files that configure static hosts. */
function mayBeServed(path: string): boolean {
  const segments = path.slice(1).split('/');
  return (
    path !== '/_headers' &&
    path !== '/_redirects' &&
    !path.includes('\0') &&
    segments.every((name, index) =>
      name === '' ? index === segments.length - 1 : !name.startsWith('.') || name === '.well-known',
    )
  );
}

function isFile(folder: string, path: string): boolean {
  // An empty file is one that the press has yet to write.
  return (plainFile(folder, path)?.size ?? 0) > 0;
}
