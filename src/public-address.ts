import ipaddr from 'ipaddr.js';

/** The IPv6 space that is allocated for the public Internet (RFC 4291, section 2.4). */
const GLOBAL_V6 = ipaddr.parseCIDR('2000::/3');

/** Whether an IP address is public: not local, private or reserved. */
export function isPublicAddress(text: string): boolean {
  if (!ipaddr.isValid(text)) return false;
  // Treats an IPv4-mapped IPv6 address as IPv4.
  const address = ipaddr.process(text);
  return address.range() === 'unicast' && (address.kind() === 'ipv4' || address.match(GLOBAL_V6));
}
