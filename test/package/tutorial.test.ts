import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { test } from 'node:test';
import { PROJECT } from '../../src/shared/project.ts';
import { endBeforeRemoval, type Scope, tempFolder } from '../support/app-context.ts';
import { installLinked, pack } from '../support/package.ts';
import { until, withAddresses } from '../support/program.ts';
import { ONLY_WIDE } from '../support/wide.ts';

type Step = { command: string; answer: string } | { file: string; text: string };

/** What a page of the manual asks its reader to do: commands with their answers, and files to write. */
function stepsOf(markdown: string): Step[] {
  return [...markdown.matchAll(/(?:`([^`\n]+)`:\n\n)?```(\w+)\n([\s\S]*?)^```$/gm)].flatMap(
    ([, file, language, text = '']): Step[] => {
      if (language !== 'console') {
        assert.ok(file !== undefined, `say into which file this is put:\n${text}`);
        return [{ file, text }];
      }
      return text
        .split(/^\$ /m)
        .slice(1)
        .map((part) => {
          const [command = '', ...answer] = part.split('\n');
          return { command, answer: answer.join('\n') };
        });
    },
  );
}

/** Whether an answer is the one that the page shows, in which `…` stands for anything. */
function assertShown(answer: string, shown: string, command: string): void {
  const quoted = shown.split('…').map((part) => part.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&'));
  const pattern = quoted
    .join('[\\s\\S]*')
    .replace(/(?<=\[\\s\\S\]\*)\n/g, '\n?')
    .replace(/\n(?=\[\\s\\S\]\*)/g, '\n?');
  assert.match(answer, new RegExp(`^${pattern}$`), `$ ${command}`);
}

/** Runs a command as a shell does; output and errors together, as a terminal shows them. */
function shell(t: Scope, command: string, cwd: string, env: NodeJS.ProcessEnv) {
  const child = spawn('bash', ['-c', `exec ${command} 2>&1`], {
    cwd,
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true,
  });
  const said = { text: '' };
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    said.text += text;
  });
  const ended = once(child, 'close').then(([code]) => code as number | null);
  const end = () => {
    try {
      process.kill(-(child.pid ?? 0), 'SIGKILL');
    } catch {
      // It has ended.
    }
    return ended;
  };
  endBeforeRemoval(cwd, end);
  t.after(end);
  return { said, ended };
}

test('the tutorial, played from its first line to its last', { skip: ONLY_WIDE }, async (t) => {
  const outer = tempFolder(t);
  const { PORT = '', RECORDS_PORT = '' } = await withAddresses({});
  const { PATH = '', HOME, NODE_COMPILE_CACHE } = process.env;
  const env = { PATH, HOME, NODE_COMPILE_CACHE, PORT, RECORDS_PORT, SCANNER: 'off', LOG_LEVEL: 'error' };
  const [at, played] = [{ folder: outer }, { commands: 0, files: 0 }];
  for (const step of stepsOf(readFileSync(join(PROJECT, 'docs/tutorial.md'), 'utf8'))) {
    if ('file' in step) {
      assert.ok(existsSync(join(at.folder, step.file)), `${step.file} was made before`);
      writeFileSync(join(at.folder, step.file), step.text);
      played.files++;
      continue;
    }
    const { command, answer } = step;
    played.commands++;
    if (command.startsWith('cd ')) {
      at.folder = join(at.folder, command.slice(3));
      continue;
    }
    if (command.startsWith('npm install ')) {
      const tarball = pack(outer);
      assert.equal(basename(tarball), basename(command));
      // Installed from this checkout's packages instead of a registry: test/package/install.test.ts has a real one.
      installLinked(at.folder, tarball);
      // As npm does.
      mkdirSync(join(at.folder, 'node_modules/.bin'));
      chmodSync(join(at.folder, 'node_modules/broadsheet/bin/broadsheet.mjs'), 0o755);
      symlinkSync('../broadsheet/bin/broadsheet.mjs', join(at.folder, 'node_modules/.bin/broadsheet'));
      continue;
    }
    const { said, ended } = shell(t, command, at.folder, env);
    if (command === 'npx broadsheet serve') {
      await until(() => (/^ready /m.test(said.text) ? true : null));
      const page = await fetch(`http://localhost:${PORT}/the-quay/`);
      assert.equal(page.status, 200);
    } else {
      await ended;
      assertShown(said.text, answer, command);
    }
  }
  assert.deepEqual(played, { commands: 12, files: 2 });
  const page = await fetch(`http://localhost:${PORT}/the-quay/stories/noon-in-greenwich-has-a-letter/`);
  assert.match(await page.text(), /AI.persona/);
  assert.ok(existsSync(join(at.folder, 'public/the-quay/stories/noon-in-greenwich-has-a-letter/index.html')));
});
