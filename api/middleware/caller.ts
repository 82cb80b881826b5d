import { BlockList, isIP } from 'node:net';
import type { HttpBindings } from '@hono/node-server';

/** Addresses whose X-Forwarded-For is believed: single ones or networks, such as `10.0.0.0/8`. */
export function proxyList(entries: readonly string[]): BlockList {
  const list = new BlockList();
  for (const entry of entries) {
    const [address = '', bits] = entry.split('/');
    const family = isIP(address) === 6 ? 'ipv6' : 'ipv4';
    if (bits === undefined) list.addAddress(address, family);
    else list.addSubnet(address, Number(bits), family);
  }
  return list;
}

/** The address of the other end of a request's connection. */
export function peerOf({ incoming }: HttpBindings): string {
  return plain(incoming.socket.remoteAddress ?? '');
}

/**
 * Who calls, for counting: an IPv4 address, or the /64 of an IPv6 one. Behind
 * trusted proxies it is the last address of X-Forwarded-For that is no proxy's.
 */
export function callerOf(env: HttpBindings, proxies: BlockList): string {
  const near = peerOf(env);
  if (!isTrusted(near, proxies)) return counted(near);
  const forwarded = String(env.incoming.headers['x-forwarded-for'] ?? '')
    .split(',')
    .map((text) => plain(text.trim()))
    .reverse();
  for (const address of forwarded) {
    if (isIP(address) === 0) break;
    if (!isTrusted(address, proxies)) return counted(address);
  }
  return counted(near);
}

/** An IPv4 address that came in IPv6 clothes is an IPv4 address, however they are written. */
function plain(address: string): string {
  const bare = address.replace(/^::ffff:(?=\d+\.)/i, '').replace(/%.*$/, '');
  if (!/ffff/i.test(bare) || isIP(bare) !== 6) return bare;
  const [, high, low] = /^::ffff:([0-9a-f]+):([0-9a-f]+)$/.exec(shortened(bare)) ?? [];
  if (high === undefined || low === undefined) return bare;
  return [high, low].flatMap((word) => [Number.parseInt(word, 16) >> 8, Number.parseInt(word, 16) & 0xff]).join('.');
}

/** The one short form of an IPv6 address (RFC 5952), as a URL has it. */
function shortened(address: string): string {
  return new URL(`http://[${address}]/`).hostname.slice(1, -1);
}

/** Whether an address is that of a proxy that is believed. */
export function isTrusted(address: string, proxies: BlockList): boolean {
  const family = isIP(address);
  return family !== 0 && proxies.check(address, family === 6 ? 'ipv6' : 'ipv4');
}

/** The network of a caller as `callerOf` gives it: an IPv4 /24, or an IPv6 /48. */
export function callerNetwork(caller: string): string {
  if (!caller.includes(':')) return `${caller.split('.').slice(0, 3).join('.')}.0/24`;
  return `${caller.split(':').slice(0, 3).join(':')}::/48`;
}

function counted(address: string): string {
  if (isIP(address) !== 6) return address;
  // Shortened, and then filled up again.
  const [head = '', tail] = shortened(address).split('::');
  const front = head === '' ? [] : head.split(':');
  const back = tail === undefined || tail === '' ? [] : tail.split(':');
  const groups = tail === undefined ? front : [...front, ...Array(8 - front.length - back.length).fill('0'), ...back];
  return `${groups.slice(0, 4).join(':')}::/64`;
}
