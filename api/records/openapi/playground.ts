import { Fault } from '../../../src/fault.ts';
import { PLAYGROUND_FILES, playgroundPage } from '../../openapi/playground.ts';
import { fileHeaders } from '../../responses/files.ts';
import { sendFile } from '../../responses/send-file.ts';
import { pageHeaders } from '../pages/page.ts';
import type { RecordsDoors } from '../route.ts';

const PATH = '/docs/playground';

const PAGE = playgroundPage({
  title: 'Domain Records: the API playground',
  description: 'Try out the Domain Records API.',
  name: 'Domain Records',
  language: 'en',
  home: '../',
  openapi: '../v1/openapi.json',
  icon: '../favicon.svg',
  links: [
    ['../docs', 'Docs'],
    ['../v1/openapi.json', 'openapi.json'],
    ['../v1', 'Index'],
    ['../account', 'Get a key'],
  ],
  how: 'Open a route, press “Try it out”, then “Execute”: this page asks the service itself, and what a key asks is metered. One domain’s preview takes no key. For the rest press “Authorize” and give a key of an account; it is forgotten when you leave the page.',
});

/** A page on which a reader tries the data API out. */
export function playgroundDoor({ router, app, enter }: RecordsDoors): void {
  const root = app.settings.dataOrigin;
  // The viewer sets styles of its own on what it draws; scripts are this host's alone.
  const guard = {
    ...pageHeaders(root),
    ...pick(fileHeaders('/agents/', root, []), 'Content-Security-Policy'),
    'Cache-Control': 'public, max-age=0, s-maxage=60, stale-while-revalidate=60',
  };
  router.get(PATH, enter('public'), async (c) => c.html(await PAGE, 200, guard));
  router.get(`${PATH}/`, (c) => c.redirect('../playground', 308));
  router.get(`${PATH}/:file`, enter('public'), (c) => {
    const file = PLAYGROUND_FILES.get(c.req.param('file'));
    if (file === undefined) throw new Fault('not_found', `the playground has no such file; see ${PATH}`);
    return sendFile(c, { file, status: 200, headers: fileHeaders('/_astro/', root, []) });
  });
}

function pick(headers: Record<string, string>, name: string): Record<string, string> {
  const value = headers[name];
  return value === undefined ? {} : { [name]: value };
}
