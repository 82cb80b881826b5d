import { createHash } from 'node:crypto';

/** Namespace of the identifiers of feed items. Generated at random once; it must never change. */
const ITEM_NAMESPACE = '0d2a4f1c-5c1e-4b8e-9a43-6f1d2f0c7be1';

/** A name-based UUID (RFC 9562, version 5): the same namespace and name give the same UUID. */
export function uuid5(namespace: string, name: string): string {
  const bytes = createHash('sha1')
    .update(Buffer.from(namespace.replaceAll('-', ''), 'hex'))
    .update(name)
    .digest()
    .subarray(0, 16);
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x50, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  const hex = bytes.toString('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}

/** `urn:uuid:…`, from the piece's id: when a paper moves to its own domain, its pieces are not new to readers. */
export function itemUrn(name: string): string {
  return `urn:uuid:${uuid5(ITEM_NAMESPACE, name)}`;
}
