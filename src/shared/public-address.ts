import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/** The IPv6 space that is allocated for the public Internet (RFC 4291, section 2.4). */
const GLOBAL_V6 = ipaddr.parseCIDR('2000::/3');

/** Whether a host, as in a URL, is this machine itself. */
export function isLoopbackHost(host: string): boolean {
  const bare = host.replace(/^\[|\]$/g, '');
  if (bare === 'localhost' || bare.endsWith('.localhost')) return true;
  return isIP(bare) !== 0 && ipaddr.process(bare).range() === 'loopback';
}

/** Whether a host, as in a URL, can be one that others reach over the Internet: a public address, or a name with dots. */
export function isPublicHost(host: string): boolean {
  const bare = host.replace(/^\[|\]$/g, '');
  if (ipaddr.isValid(bare)) return isPublicAddress(bare);
  return bare.includes('.') && !/\.(?:localhost|local|internal|test|invalid)$/.test(bare);
}

/** Whether an IP address is public: not local, private or reserved. */
export function isPublicAddress(text: string): boolean {
  if (!ipaddr.isValid(text)) return false;
  // Treats an IPv4-mapped IPv6 address as IPv4.
  const address = ipaddr.process(text);
  return address.range() === 'unicast' && (address.kind() === 'ipv4' || address.match(GLOBAL_V6));
}
