import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { FAMILY, HOSTS } from './expectation.ts';
import { hostnameOfField } from './hostname.ts';
import { SERVICES } from './services.ts';
import { type TrackedName, withoutVolatileParts } from './tracked-values.ts';

/** Converts values in rules to the form in which answers are recorded; null for a value that no answer can have. */

/** Answers contain only these characters: other bytes are escaped. */
const ASCII = /^[\x20-\x7e]*$/;

export function normalValue(signal: TrackedName, given: string): string | null {
  const text = given.trim();
  if (!ASCII.test(given)) return null;
  const family = FAMILY[signal];
  if (family !== undefined) return familyOf(text) === family ? addressText(text) : null;
  if (text === '') return null;
  if (signal === 'TXT' || signal === 'DMARC') return given;
  if (HOSTS.includes(signal)) return text.toLowerCase().replace(/(?<=[^ .])\.$/, '');
  return withoutVolatileParts(signal, text);
}

export function beginning(signal: TrackedName, given: string): string | null {
  if (given.trim() === '' || !ASCII.test(given)) return null;
  return HOSTS.includes(signal) ? given.toLowerCase() : given;
}

/** 4, 6, or 0 for anything that an address record cannot contain; addresses with a zone are invalid too. */
function familyOf(text: string): number {
  return text.includes('%') ? 0 : isIP(text);
}

/** The form that answers have: IPv6 by RFC 5952. */
function addressText(address: string): string {
  return textOf(ipaddr.parse(address));
}

function textOf(address: ipaddr.IPv4 | ipaddr.IPv6): string {
  return address instanceof ipaddr.IPv6 ? address.toRFC5952String() : address.toString();
}

export function normalNetwork(family: 4 | 6, given: string): string | null {
  const [address = '', bits = '', ...rest] = given.trim().split('/');
  if (rest.length > 0 || familyOf(address) !== family || !/^\d{1,3}$/.test(bits)) return null;
  if (Number(bits) > (family === 4 ? 32 : 128)) return null;
  const text = `${address}/${Number(bits)}`;
  const network = family === 4 ? ipaddr.IPv4.networkAddressFromCIDR(text) : ipaddr.IPv6.networkAddressFromCIDR(text);
  return `${textOf(network)}/${Number(bits)}`;
}

/** Whether networks together cover all addresses. Two halves are merged into the network that contains both. */
export function coversAll(networks: readonly string[], family: 4 | 6): boolean {
  const sizes = new Set<string>();
  for (const network of networks) {
    const [address = '', bits] = network.split('/');
    const bytes = ipaddr.parse(address).toByteArray();
    sizes.add(
      bytes
        .map((byte) => byte.toString(2).padStart(8, '0'))
        .join('')
        .slice(0, Number(bits)),
    );
  }
  for (let bits = family === 4 ? 32 : 128; bits > 0; bits--) {
    for (const prefix of [...sizes].filter(({ length }) => length === bits)) {
      const other = prefix.slice(0, -1) + (prefix.endsWith('0') ? '1' : '0');
      if (sizes.has(other) || isWithin(other, sizes)) sizes.add(prefix.slice(0, -1));
    }
  }
  return sizes.has('');
}

function isWithin(bits: string, sizes: ReadonlySet<string>): boolean {
  for (let length = bits.length - 1; length >= 0; length--) if (sizes.has(bits.slice(0, length))) return true;
  return false;
}

const SERVICE_NAMES = new Map(SERVICES.map(({ service }) => [service.toLowerCase(), service]));

/** A known service by its name, or a registrable domain; null for neither. */
export function providerIn(given: string): string | null {
  const text = given.trim();
  const service = SERVICE_NAMES.get(text.toLowerCase());
  if (service !== undefined) return service;
  try {
    const { hostname, registrable_domain } = hostnameOfField(text, 'providers');
    return registrable_domain === null ? null : hostname;
  } catch {
    return null;
  }
}
