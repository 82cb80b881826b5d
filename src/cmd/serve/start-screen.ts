import { relative } from 'node:path';
import { paperAddresses } from '../../desk/press/newsstand.ts';
import type { AppContext } from '../../server/context.ts';
import { CLI } from '../../shared/command-line.ts';
import { VERSION } from '../../shared/project.ts';
import { printable } from '../../shared/terminal/output.ts';
import { userFolder } from '../../shared/terminal/project-folder.ts';
import type { Service } from './jobs.ts';

/** How many papers are listed. */
const PAPERS = 8;

/** The text on a terminal when the server is ready: addresses, and what to do next. Ends in a newline. */
export function startScreen(
  { store, settings }: AppContext,
  services: readonly Pick<Service, 'name' | 'url'>[],
): string {
  const { origin, dataOrigin, contentDir, smtpUrl, services: runs } = settings;
  const papers = runs.desk ? paperAddresses(store.desk, origin) : [];
  const folder = relative(userFolder(), contentDir) || '.';
  const where: [string, string][] = [];
  for (const { name, url } of services) {
    if (name === 'desk') {
      where.push(
        ['All papers', `${origin}/`],
        ...papers.slice(0, PAPERS).map(({ nameplate, url }) => [nameplate, url] as [string, string]),
      );
      if (papers.length > PAPERS) where.push(['', `and ${papers.length - PAPERS} more`]);
      if (smtpUrl === undefined) where.push(['Mail (not sent)', `${origin}/newsstand/outbox/`]);
    } else if (name === 'records') where.push(['Domain records', `${dataOrigin}/`]);
    else where.push(['Metrics', `${url}/metrics`]);
  }
  const width = Math.max(...where.map(([name]) => name.length));
  const next = runs.desk
    ? [`Write in ${folder}/, then file it: ${CLI} file`, `A new piece: ${CLI} new story "Its headline"`]
    : [];
  const lines = [
    `Broadsheet ${VERSION} is ready`,
    '',
    ...where.map(([name, url]) => `  ${name.padEnd(width)}  ${url}`),
    '',
    ...next,
    'Ctrl+C stops it.',
  ];
  return lines.map((line) => `${printable(line)}\n`).join('');
}
