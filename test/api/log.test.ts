import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withoutSecrets } from '../../api/middleware/log.ts';

test('a path is logged without the addresses and keys in it', () => {
  const logged: [string, string][] = [
    ['/p/api/v1/subscribers', '/p/api/v1/subscribers'],
    ['/p/api/v1/stories/year-2038', '/p/api/v1/stories/year-2038'],
    ['/p/api/v1/subscribers/reader@example.org', '/p/api/v1/subscribers/{email}'],
    ['/p/api/v1/subscribers/reader%40example.org', '/p/api/v1/subscribers/{email}'],
    ['/p/api/v1/subscribers/no-address/more', '/p/api/v1/subscribers/{email}'],
    ['/reader@example.org', '/{email}'],
    ['/p/reader%2540example.org/x', '/p/{email}/x'],
    ['/p/a%40b/c@d', '/p/{email}/{email}'],
    ['/p/api/v1/keys/nrf_xrlLRIbw0R5RoAFdCD3AmlmVlrzBG0JVdWDvS1PpvxK', '/p/api/v1/keys/nrf_{key}'],
    ['/nrf_xrlLRIbw0R5RoAFdCD3AmlmVlrz/x', '/nrf_{key}/x'],
    ['/v1/domains/DRS_xrlLRIbw0R5R/history', '/v1/domains/DRS_{key}/history'],
    ['/p/stories/drs_1', '/p/stories/drs_1'],
    ['/feeds/01kb/Zm9v_-YmFy.rss', '/feeds/01kb/{secret}'],
    ['/Feeds/01kb/Zm9v', '/feeds/01kb/{secret}'],
    ['/p/feeds/politics.rss', '/p/feeds/politics.rss'],
  ];
  for (const [path, expected] of logged) assert.equal(withoutSecrets(path), expected);
});
