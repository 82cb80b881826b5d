import { BlockList, isIP } from 'node:net';
import type { HttpBindings } from '@hono/node-server';
import ipaddr from 'ipaddr.js';

/** The trusted proxies, by address or network, such as `10.0.0.0/8`. Only their X-Forwarded-For is used. */
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

/** The address of a request's peer. */
export function peerOf({ incoming }: Pick<HttpBindings, 'incoming'>): string {
  return plain(incoming.socket.remoteAddress ?? '');
}

/** Whom to count: an IPv4 address or an IPv6 /64, behind trusted proxies the last one that is not theirs. */
export function callerOf(env: Pick<HttpBindings, 'incoming'>, proxies: BlockList): string {
  const near = peerOf(env);
  if (!isTrusted(near, proxies)) return counted(near);
  const forwarded = String(env.incoming.headers['x-forwarded-for'] ?? '')
    .split(',')
    .map((text) => plain(withoutPort(text.trim())))
    .reverse();
  for (const address of forwarded) {
    if (isIP(address) === 0) break;
    if (!isTrusted(address, proxies)) return counted(address);
  }
  return counted(near);
}

/** Some proxies add the port, as in `192.0.2.1:5678`, and brackets to an IPv6 address (RFC 7239, section 6). */
function withoutPort(text: string): string {
  const bracketed = /^\[([^\]]*)\](?::\d{1,5})?$/.exec(text)?.[1];
  return bracketed ?? text.replace(/^([\d.]+):\d{1,5}$/, '$1');
}

/** The canonical form of an address, without its zone; an IPv4-mapped IPv6 address as IPv4. */
function plain(address: string): string {
  const bare = address.replace(/%.*$/, '');
  return isIP(bare) === 6 ? ipaddr.process(bare).toString() : bare;
}

/** Whether an address belongs to a trusted proxy. */
export function isTrusted(address: string, proxies: BlockList): boolean {
  const family = isIP(address);
  return family !== 0 && proxies.check(address, family === 6 ? 'ipv6' : 'ipv4');
}

/** The network of a caller from `callerOf`: an IPv4 /24, or an IPv6 /48. */
export function callerNetwork(caller: string): string {
  if (!caller.includes(':')) return `${caller.split('.').slice(0, 3).join('.')}.0/24`;
  return `${caller.split(':').slice(0, 3).join(':')}::/48`;
}

function counted(address: string): string {
  if (isIP(address) !== 6) return address;
  const groups = ipaddr.IPv6.parse(address).parts.slice(0, 4);
  return `${groups.map((group) => group.toString(16)).join(':')}::/64`;
}
