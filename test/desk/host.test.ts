import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hostKey, hostOfPaper, normalUrl, parseHost, urlProblems } from '../../src/desk/papers/host.ts';
import { Fault } from '../../src/shared/fault.ts';

const own = { origin: 'https://host.example', dataOrigin: 'https://records.example:8443' };
const others = [{ slug: 'b', url: 'https://b.example/news' }, { slug: 'c' }];
const problems = (url: string, isHeld = true) => urlProblems('a', url, { own, ownsHost: isHeld, others });

/** Addresses of this machine, and of the service, in every way that a browser understands. */
const UNFIT = [
  ...['http://127.0.0.1', 'http://2130706433', 'http://0x7f.1', 'http://127.1', 'http://0177.0.0.1', 'http://1'],
  ...[
    'http://[::1]',
    'http://[::ffff:127.0.0.1]:8080',
    'https://192.0.2.7',
    'https://192.0.2.7.',
    'http://127。0。0。1',
  ],
  ...['http://localhost', 'http://LOCALHOST:4321', 'http://localhost.'],
  ...['https://host.example', 'https://host.example/c', 'https://host.example/a/b', 'http://host.example:8080'],
  ...[
    'https://a;reboot.example',
    'https://$(reboot).example',
    'https://`id`.example',
    'https://a"b.example',
    "https://a'b",
  ],
  ...['https://a..example', 'https://a.example..', 'https://-a.example', 'https://a-.example'],
  ...['https://HOST.example.', 'https://ｈost.example', 'https://records.example', 'http://records.example:80/x'],
];

test('a paper takes no address of the service, and none that is an IP address or no name', () => {
  for (const url of UNFIT)
    assert.deepEqual(
      problems(normalUrl(url)).map(({ rule }) => rule),
      ['host_unfit'],
      url,
    );
  assert.deepEqual(problems('https://host.example/a', false), [], 'its path on the shared host');
});

test('a paper takes an address on a host of its own, where no other paper is', () => {
  for (const url of [
    'https://a.example',
    'https://b.example/other',
    'https://b.example/newsroom',
    'https://b.example:8443',
  ])
    assert.deepEqual(problems(url), [], url);
  for (const url of ['https://b.example', 'http://b.example/news', 'https://b.example/news/x'])
    assert.deepEqual(
      problems(url).map(({ rule }) => rule),
      ['host_unproven'],
      url,
    );
});

test('a host of another paper is rejected in the same words as an unknown one', () => {
  const [taken] = problems('https://b.example/news');
  const [unheld] = problems('https://b.example/news', false);
  assert.deepEqual(taken, unheld);
  const [elsewhere] = problems('https://d.example/news', false);
  assert.deepEqual(JSON.parse(JSON.stringify(elsewhere).replaceAll('d.example', 'b.example')), taken);
});

test('an address is stored as it was parsed', () => {
  for (const [given, kept] of [
    ['HTTPS://Tides.Example/', 'https://tides.example'],
    ['https://tides.example.:443/daily//', 'https://tides.example/daily'],
    ['http://Zürich.example:80', 'http://xn--zrich-kva.example'],
    ['https://tides.example:8443/á/../b', 'https://tides.example:8443/b'],
  ] as const)
    assert.equal(normalUrl(given), kept, given);
});

test('hosts are compared without insignificant parts', () => {
  for (const url of ['https://tides.example', 'http://TIDES.example.:443/x', 'https://tides.example:80'])
    assert.equal(hostKey(new URL(url)), 'tides.example', url);
  assert.equal(hostKey(new URL('https://tides.example:8443')), 'tides.example:8443');
  assert.equal(hostOfPaper({}), null);
});

test('an operator names a host, and nothing else', () => {
  for (const [given, host] of [
    ['Tides.Example.', 'tides.example'],
    ['zürich.example', 'xn--zrich-kva.example'],
    ['tides.example:443', 'tides.example'],
    ['tides.example:8443', 'tides.example:8443'],
  ] as const)
    assert.equal(parseHost(given, own), host, given);
  const refused = [
    ...[
      '',
      '.',
      'https://a.example',
      'a.example/x',
      'a.example?x',
      'u@a.example',
      'a b',
      'a.example:99999',
      '*.a.example:x',
    ],
    ...UNFIT.map((url) => url.replace(/^https?:\/\//, '')),
  ];
  for (const text of refused) {
    assert.throws(
      () => parseHost(text, own),
      (error) => error instanceof Fault && error.code === 'invalid_request',
      text,
    );
  }
});
