import { readFileSync } from 'node:fs';
import { TARGETS, type Target } from './targets.ts';

/** The values in the files of a new project. */
interface Project {
  /** The paper's address, which is the name of the project as well. */
  slug: string;
  /** The version of Broadsheet that the project installs. */
  version: string;
  target: Target;
  /** The paper's public address. */
  address: string;
}

/** The files of a project besides `content/` and `package.json`, by path. */
export function projectFiles({ slug, version, target, address }: Project): Map<string, string> {
  const place = TARGETS[target];
  const words: Record<string, string> = {
    slug,
    version,
    address,
    origin: new URL(address).origin,
    target: place.title,
    state: place.state,
    publish_url: place.publishUrl,
    permissions: ['contents: write', ...place.permissions].map((one) => `      ${one}`).join('\n'),
    secret_names: Object.keys(place.secrets).join(', '),
    secrets: Object.entries(place.secrets)
      .map(([name, what]) => `- \`${name}\`: ${what}`)
      .join('\n'),
    secrets_env: envOf(Object.keys(place.secrets).filter((name) => !place.steps.includes(name))),
    steps: place.steps,
  };
  const filled = (file: string) => fill(template(file), words);
  return new Map([
    ['.env.example', filled('env.example')],
    ['.gitignore', template('gitignore')],
    ['.github/workflows/publish.yml', filled('workflow.txt')],
    ['publish.sh', template('publish.sh')],
    ['AGENTS.md', filled('AGENTS.md')],
    ['README.md', filled('README.md')],
  ]);
}

/** The package.json of a project. `broadsheet` is what npm is to install: a version, or `file:` and a tarball. */
export function packageJson(slug: string, broadsheet: string): string {
  const own = {
    name: slug,
    version: '1.0.0',
    private: true,
    type: 'module',
    engines: { node: '>=22.18' },
    scripts: { dev: 'broadsheet dev', start: 'broadsheet serve', file: 'broadsheet file' },
    dependencies: { broadsheet },
  };
  return `${JSON.stringify(own, null, 2)}\n`;
}

const envOf = (names: string[]) => names.map((name) => `          ${name}: \${{ secrets.${name} }}`).join('\n');

/** npm leaves `.gitignore` out of packages, and takes `.env.example` for a secret: templates have no dot. */
const template = (file: string) => readFileSync(new URL(`../template/${file}`, import.meta.url), 'utf8');

/** Replaces each `{{word}}`, also inside replacements. Leaves the `${{ … }}` of workflows, which have spaces. */
function fill(text: string, words: Record<string, string>): string {
  const once = (from: string) =>
    from.replace(/\{\{(\w+)\}\}/g, (_, word: string) => {
      const value = words[word];
      if (value === undefined) throw new Error(`a template names {{${word}}}, which nothing fills`);
      return value;
    });
  return once(once(text));
}
