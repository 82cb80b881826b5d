import { execFileSync, spawnSync } from 'node:child_process';
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
 * An npm registry on loopback that has the package `broadsheet`, from this tarball; without one, a package whose program
 * is that of this checkout. Other packages are those of the machine's own registry. Returns its address.
 */
export async function packageRegistry(t: Scope, tarball = linkedTarball(tempFolder(t))): Promise<string> {
  const bytes = readFileSync(tarball);
  const manifest = execFileSync('tar', ['-xzOf', tarball, 'package/package.json'], { encoding: 'utf8' });
  const upstream = spawnSync('npm', ['config', 'get', 'registry'], { encoding: 'utf8' }).stdout.trim();
  const integrity = `sha512-${createHash('sha512').update(bytes).digest('base64')}`;
  let origin = '';
  const server = createServer((request, response) => {
    const path = request.url ?? '/';
    if (path === '/broadsheet.tgz') response.end(bytes);
    else if (path === '/broadsheet') {
      const version = { ...JSON.parse(manifest), dist: { tarball: `${origin}/broadsheet.tgz`, integrity } };
      const document = { name: 'broadsheet', 'dist-tags': { latest: VERSION }, versions: { [VERSION]: version } };
      response.setHeader('Content-Type', 'application/json').end(JSON.stringify(document));
    } else response.writeHead(302, { Location: new URL(path.slice(1), upstream).href }).end();
  });
  origin = await loopback(t, server);
  return origin;
}

/** A package `broadsheet` whose program is that of this checkout. Returns the tarball's path. */
export function linkedTarball(folder: string, version = VERSION): string {
  const own = join(folder, 'package');
  mkdirSync(join(own, 'bin'), { recursive: true });
  const manifest = { name: 'broadsheet', version, type: 'module', bin: { broadsheet: 'bin/broadsheet.mjs' } };
  writeFileSync(join(own, 'package.json'), JSON.stringify(manifest));
  writeFileSync(join(own, 'bin/broadsheet.mjs'), `#!/usr/bin/env node\nimport '${pathToFileURL(PROGRAM).href}';\n`);
  const archive = join(folder, 'broadsheet.tgz');
  execFileSync('tar', ['-czf', archive, '-C', folder, 'package']);
  return archive;
}
