import ipaddr from 'ipaddr.js';

/** What is given out of IPv6 for the Internet at large (RFC 4291, section 2.4). */
const GLOBAL_V6 = ipaddr.parseCIDR('2000::/3');

/** Whether an IP address is one of the Internet's: not of this machine, not of a private net, not reserved. */
export function isPublicAddress(text: string): boolean {
  if (!ipaddr.isValid(text)) return false;
  // An IPv4 address in IPv6 clothes is taken as what it is.
  const address = ipaddr.process(text);
  return address.range() === 'unicast' && (address.kind() === 'ipv4' || address.match(GLOBAL_V6));
}
