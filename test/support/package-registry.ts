import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { VERSION } from '../../src/shared/project.ts';
import { type Scope, tempFolder } from './app-context.ts';
import { loopback } from './loopback.ts';
import { PROGRAM } from './program.ts';

/**
 * An npm registry on loopback with one package: `broadsheet`, in the version of this checkout, whose program is that of
 * this checkout. Returns its address.
 */
export async function packageRegistry(t: Scope): Promise<string> {
  const folder = tempFolder(t);
  const own = join(folder, 'package');
  mkdirSync(join(own, 'bin'), { recursive: true });
  const manifest = { name: 'broadsheet', version: VERSION, type: 'module', bin: { broadsheet: 'bin/broadsheet.mjs' } };
  writeFileSync(join(own, 'package.json'), JSON.stringify(manifest));
  writeFileSync(join(own, 'bin/broadsheet.mjs'), `#!/usr/bin/env node\nimport '${pathToFileURL(PROGRAM).href}';\n`);
  const archive = join(folder, 'broadsheet.tgz');
  const { status, stderr } = spawnSync('tar', ['-czf', archive, '-C', folder, 'package'], { encoding: 'utf8' });
  if (status !== 0) throw new Error(stderr);
  const bytes = readFileSync(archive);
  const integrity = `sha512-${createHash('sha512').update(bytes).digest('base64')}`;
  let origin = '';
  const server = createServer((request, response) => {
    if (request.url === '/broadsheet.tgz') response.end(bytes);
    else if (request.url === '/broadsheet') {
      const version = { ...manifest, dist: { tarball: `${origin}/broadsheet.tgz`, integrity } };
      const document = { name: 'broadsheet', 'dist-tags': { latest: VERSION }, versions: { [VERSION]: version } };
      response.setHeader('Content-Type', 'application/json').end(JSON.stringify(document));
    } else response.writeHead(404, { 'Content-Type': 'application/json' }).end('{"error":"Not found"}');
  });
  origin = await loopback(t, server);
  return origin;
}
