import { hostOfPaper, hostProblem, servedAt } from '../../desk/host.ts';
import { LOG_SLUG } from '../../desk/paper.ts';
import type { AppContext } from '../context.ts';
import type { Finding } from './finding.ts';
import { fault, holds, open, runCheck } from './finding.ts';

/** Compares the papers' addresses with the hosts at which they are served. */
export async function checkHosts(app: AppContext | null): Promise<Finding[]> {
  return app === null ? [] : [await runCheck('hosts of papers', () => hosts(app))];
}

function hosts({ store, settings }: AppContext) {
  const papers = store.paperSlugs().flatMap((slug) => store.paper(slug) ?? []);
  const served = servedAt(papers, store.hosts);
  const unfit = served.find(({ url }) => hostProblem(new URL(url ?? ''), settings) !== null);
  if (unfit !== undefined) {
    const host = hostOfPaper(unfit);
    return fault(
      `${unfit.slug} is served at ${host}, which is a host of the service itself`,
      `run \`npm run -s broadsheet -- paper host ${unfit.slug} ${host} --remove\`, and give the paper a domain of its own`,
    );
  }
  // The slug was not reserved from the beginning.
  if (papers.some((paper) => paper.slug === LOG_SLUG && !served.includes(paper))) {
    return fault(
      `the transparency log is at ${settings.origin}/${LOG_SLUG}/, which was the front page of the paper called ${LOG_SLUG}; its other pages are still served`,
      `give that paper a domain of its own with \`url\` in its paper.yaml, and file it again`,
    );
  }
  const elsewhere = papers.find((paper) => paper.url !== undefined && !served.includes(paper) && !isShared(paper.url));
  if (elsewhere !== undefined) {
    return open(
      `${elsewhere.slug} has the address ${elsewhere.url}, where this server does not serve it; if it should, run \`npm run -s broadsheet -- paper host ${elsewhere.slug} ${hostOfPaper(elsewhere)}\``,
    );
  }
  return holds(served.length === 0 ? 'no paper has its own host' : served.map(({ url }) => url).join(', '));

  function isShared(url: string): boolean {
    return url.startsWith(`${settings.origin}/`);
  }
}
