import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withoutAddresses } from '../../api/middleware/log.ts';

test('a path is logged without the addresses in it', () => {
  const logged: [string, string][] = [
    ['/p/api/v1/subscribers', '/p/api/v1/subscribers'],
    ['/p/api/v1/stories/year-2038', '/p/api/v1/stories/year-2038'],
    ['/p/api/v1/subscribers/reader@example.org', '/p/api/v1/subscribers/{email}'],
    ['/p/api/v1/subscribers/reader%40example.org', '/p/api/v1/subscribers/{email}'],
    ['/p/api/v1/subscribers/no-address/more', '/p/api/v1/subscribers/{email}'],
    ['/reader@example.org', '/{email}'],
    ['/p/reader%2540example.org/x', '/p/{email}/x'],
    ['/p/a%40b/c@d', '/p/{email}/{email}'],
  ];
  for (const [path, expected] of logged) assert.equal(withoutAddresses(path), expected);
});
