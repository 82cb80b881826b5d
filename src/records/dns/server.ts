import ipaddr from 'ipaddr.js';
import type { Server } from './transport.ts';

const PORT = 53;

/** Parses `192.0.2.1`, `192.0.2.1:53`, `2001:db8::1` or `[2001:db8::1]:53`; null for anything else. */
export function parseServer(text: string): Server | null {
  const bracketed = /^\[([^\]]*)\](?::(\d{1,5}))?$/.exec(text);
  const plain = /^([\d.]+)(?::(\d{1,5}))?$/.exec(text);
  const [, address = text, port = String(PORT)] = bracketed ?? plain ?? [];
  const isSound = plain === null ? ipaddr.IPv6.isValid(address) : ipaddr.IPv4.isValidFourPartDecimal(address);
  if (!isSound || Number(port) < 1 || Number(port) > 65_535) return null;
  return { address, port: Number(port) };
}
