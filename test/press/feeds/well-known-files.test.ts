import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { robots, securityTxt } from '../../../src/desk/press/feeds/well-known-files.ts';
import { channel } from './fixtures.ts';

describe('robots.txt', () => {
  it('allows all crawlers and names both sitemaps by absolute addresses', () => {
    const lines = robots(channel.root).split('\n');
    for (const line of lines) assert.match(line, /^(#.*|(User-agent|Allow|Disallow|Sitemap): \S+|)$/);
    assert.ok(lines.includes('User-agent: *'));
    assert.ok(!lines.some((line) => line.startsWith('Disallow: /')));
    assert.deepEqual(
      lines.filter((line) => line.startsWith('Sitemap')),
      [`Sitemap: ${channel.root}/sitemap.xml`, `Sitemap: ${channel.root}/sitemap-news.xml`],
    );
  });
});

describe('security.txt', () => {
  const fields = (text: string) =>
    text
      .trim()
      .split('\n')
      .map((line) => line.split(/: (.*)/).slice(0, 2));

  it('has the fields of RFC 9116', () => {
    assert.deepEqual(fields(securityTxt(channel, Date.UTC(2026, 10, 21, 8))), [
      ['Contact', 'mailto:desk@example.org'],
      ['Expires', '2027-11-01T00:00:00Z'],
      ['Preferred-Languages', 'en'],
      ['Canonical', `${channel.root}/.well-known/security.txt`],
    ]);
  });

  it('links to the standards page without a contact', () => {
    const { contact: _, ...paper } = channel.paper;
    assert.deepEqual(fields(securityTxt({ ...channel, paper }, 0))[0], ['Contact', `${channel.root}/standards/`]);
  });

  it('is the same all month, and expires less than a year after the change', () => {
    const first = Date.UTC(2028, 1, 1);
    const last = Date.UTC(2028, 1, 29, 23, 59, 59, 999);
    assert.equal(securityTxt(channel, first), securityTxt(channel, last));
    assert.notEqual(securityTxt(channel, last + 1), securityTxt(channel, last));
    for (const changed of [first, last]) {
      const expires = Date.parse(fields(securityTxt(channel, changed))[1]?.[1] ?? '');
      assert.ok(expires > changed && expires - changed <= 366 * 86_400_000);
    }
  });
});
