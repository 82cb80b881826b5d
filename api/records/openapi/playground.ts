import { present } from '../../../src/proof/narrow.ts';
import type { Settings } from '../../../src/server/env.ts';
import { Fault } from '../../../src/shared/fault.ts';
import { PLAYGROUND_FILES, playgroundPage } from '../../openapi/playground.ts';
import { fileHeaders } from '../../responses/files.ts';
import { PUBLIC } from '../../responses/send.ts';
import { sendFile } from '../../responses/send-file.ts';
import { pageHeaders } from '../pages/page.ts';
import type { RecordsContext } from '../route.ts';

const PAGE = playgroundPage({
  isRecords: true,
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
  how: 'Open an operation, press “Try it out”, then “Execute”. Requests go to the live service, and requests with a key are metered. The preview of one domain takes no key. For everything else, press “Authorize” and enter a key of an account; the page forgets it when you leave.',
});

export function playground({ dataOrigin: root }: Settings) {
  // The viewer sets inline styles; scripts come only from this host.
  const headers = {
    ...pageHeaders(root),
    'Content-Security-Policy': present(fileHeaders('/agents/', root, [])['Content-Security-Policy']),
    'Cache-Control': PUBLIC,
  };
  return {
    page: async (c: RecordsContext) => c.html(await PAGE, 200, headers),
    withoutSlash: (c: RecordsContext) => c.redirect('../playground', 308),
    file: (c: RecordsContext) => {
      const file = PLAYGROUND_FILES.get(c.req.param('file') ?? '');
      if (file === undefined) throw new Fault('not_found', 'the playground has no such file; see /docs/playground');
      return sendFile(c, { file, status: 200, headers: fileHeaders('/_astro/', root, []) });
    },
  };
}
