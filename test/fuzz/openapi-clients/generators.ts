import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** The two documents, by the name of their client. */
export const DOCUMENTS = ['desk', 'records'] as const;

/** A generator of clients, in a folder of its own that has both documents. */
export interface Generator {
  name: string;
  /** Commands that it needs. */
  needs: string[];
  /** Installs it. Needs a package registry. */
  install(folder: string): void;
  /** Generates a client of each document, compiles it where the language does, and calls the servers named in `env`. */
  call(folder: string, env: NodeJS.ProcessEnv): void;
}

const PROGRAMS = import.meta.dirname;

/** Runs a command in a folder. Throws with what it printed when it fails. */
export function command(cwd: string, [program = '', ...args]: string[], env: NodeJS.ProcessEnv = process.env): void {
  const { status, stdout, stderr, error } = spawnSync(program, args, { cwd, env, encoding: 'utf8' });
  if (status === 0) return;
  throw new Error(`${[program, ...args].join(' ')}: ${error?.message ?? ''}\n${`${stdout}${stderr}`.slice(-4_000)}`);
}

const npm = (folder: string, ...packages: string[]): void => {
  writeFileSync(join(folder, 'package.json'), '{ "type": "module", "private": true }');
  command(folder, ['npm', 'install', '--no-audit', '--no-fund', 'typescript@5.9.3', '@types/node@24', ...packages]);
};

/** Compiles `main.ts` in strict mode, with all that it imports, and runs it. */
const runTypeScript = (folder: string, program: string, env: NodeJS.ProcessEnv): void => {
  copyFileSync(join(PROGRAMS, program), join(folder, 'main.ts'));
  const compilerOptions = { strict: true, target: 'ES2022', module: 'NodeNext', types: ['node'], outDir: 'out' };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['main.ts'] }));
  command(folder, ['node_modules/.bin/tsc', '-p', '.']);
  command(folder, ['node', 'out/main.js'], env);
};

const oapiCodegen: Generator = {
  name: 'oapi-codegen 2.8.0',
  needs: ['go'],
  install(folder) {
    const generator = 'github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v2.8.0';
    command(folder, ['go', 'install', generator], { ...process.env, GOBIN: folder });
    writeFileSync(join(folder, 'go.mod'), 'module clients\n\ngo 1.24\n');
  },
  call(folder, env) {
    for (const name of DOCUMENTS) {
      mkdirSync(join(folder, name), { recursive: true });
      // Without skip-prune the schemas that only webhooks use are left out.
      const what = ['-generate', 'types,client,skip-prune', '-package', name, '-o', `${name}/client.go`];
      command(folder, ['./oapi-codegen', ...what, `${name}.json`]);
    }
    copyFileSync(join(PROGRAMS, 'main.go.txt'), join(folder, 'main.go'));
    command(folder, ['go', 'mod', 'tidy']);
    command(folder, ['go', 'vet', './...']);
    command(folder, ['go', 'run', '.'], env);
  },
};

const pythonClient: Generator = {
  name: 'openapi-python-client 0.29.1',
  needs: ['python3'],
  install(folder) {
    command(folder, ['python3', '-m', 'venv', 'venv']);
    command(folder, ['venv/bin/pip', 'install', '-q', 'openapi-python-client==0.29.1', 'attrs', 'python-dateutil']);
  },
  call(folder, env) {
    for (const name of DOCUMENTS) {
      const out = ['--output-path', `${name}_client`, '--meta', 'none', '--overwrite'];
      command(folder, ['venv/bin/openapi-python-client', 'generate', '--path', `${name}.json`, ...out]);
      renameCast(join(folder, `${name}_client`, 'models'));
    }
    copyFileSync(join(PROGRAMS, 'main.py.txt'), join(folder, 'main.py'));
    command(folder, ['venv/bin/python', 'main.py'], env);
  },
};

/**
 * Gives `typing.cast` another name in generated models: this generator calls a member `cast` by its own name, which
 * then hides the function (docs/api.md has the same as a command).
 */
function renameCast(models: string): void {
  for (const file of readdirSync(models)) {
    if (!file.endsWith('.py')) continue;
    const text = readFileSync(join(models, file), 'utf8')
      .replace(/^from __future__.*\n/m, '$&from typing import cast as typing_cast\n')
      .replace(/(?<![\w.])cast\(/g, 'typing_cast(');
    writeFileSync(join(models, file), text);
  }
}

const openapiTypescript: Generator = {
  name: 'openapi-typescript 7.13.0',
  needs: ['npm'],
  install: (folder) => npm(folder, 'openapi-typescript@7.13.0', 'openapi-fetch@0.17.0'),
  call(folder, env) {
    for (const name of DOCUMENTS) {
      command(folder, ['node_modules/.bin/openapi-typescript', `${name}.json`, '-o', `${name}.d.ts`]);
    }
    runTypeScript(folder, 'fetch.ts.txt', env);
  },
};

const heyApi: Generator = {
  name: '@hey-api/openapi-ts 0.95.0',
  needs: ['npm'],
  install: (folder) => npm(folder, '@hey-api/openapi-ts@0.95.0'),
  call(folder, env) {
    // The generator reads how modules are resolved, and writes its imports that way.
    writeFileSync(join(folder, 'tsconfig.json'), '{ "compilerOptions": { "module": "NodeNext" } }');
    for (const name of DOCUMENTS) {
      command(folder, ['node_modules/.bin/openapi-ts', '-i', `${name}.json`, '-o', name]);
    }
    runTypeScript(folder, 'hey.ts.txt', env);
  },
};

export const GENERATORS: readonly Generator[] = [oapiCodegen, pythonClient, openapiTypescript, heyApi];
