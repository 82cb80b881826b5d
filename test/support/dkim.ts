import { createHash, verify } from 'node:crypto';

/** A DKIM signature, verified by hand according to RFC 6376, without the library that signed it. */
export interface DkimCheck {
  tags: Map<string, string>;
  /** Names of the signed headers, in lower case. */
  signed: string[];
  bodyHolds: boolean;
  signatureHolds: boolean;
}

/** Verifies the only signature of a mail, relaxed/relaxed and rsa-sha256, with a public key in PEM. */
export function checkDkim(raw: Buffer, publicKey: string): DkimCheck {
  const text = raw.toString('latin1');
  const end = text.indexOf('\r\n\r\n');
  // Section 2.8: continuation lines of a header begin with whitespace.
  const headers = text.slice(0, end).split(/\r\n(?![ \t])/);
  const nameOf = (header: string) => header.slice(0, header.indexOf(':')).trim().toLowerCase();
  const own = headers.find((header) => nameOf(header) === 'dkim-signature') ?? '';
  const tags = new Map(
    own
      .slice(own.indexOf(':') + 1)
      .split(';')
      .map(
        (tag) => [tag.slice(0, tag.indexOf('=')).trim(), tag.slice(tag.indexOf('=') + 1).replace(/\s+/g, '')] as const,
      ),
  );
  // Section 3.4.4: trailing whitespace is removed, runs of whitespace become one space, and empty lines at the end are
  // removed.
  const body = text
    .slice(end + 4)
    .replace(/[ \t]+(?=\r\n)/g, '')
    .replace(/[ \t]+/g, ' ')
    .replace(/(?:\r\n)*$/, '\r\n');
  const bodyHash = createHash('sha256').update(body, 'latin1').digest('base64');
  // Section 3.4.2.
  const relaxed = (header: string) =>
    `${nameOf(header)}:${header
      .slice(header.indexOf(':') + 1)
      .replace(/\r\n/g, '')
      .replace(/[ \t]+/g, ' ')
      .trim()}`;
  const signed = (tags.get('h') ?? '').toLowerCase().split(':');
  // Section 5.4.2: of repeated headers, the last one comes first.
  const left = [...headers];
  const covered = signed.flatMap((name) => {
    const at = left.findLastIndex((header) => nameOf(header) === name);
    return at < 0 ? [] : left.splice(at, 1).map((header) => `${relaxed(header)}\r\n`);
  });
  // Section 3.7: the signature's own header comes last, with an empty b= value.
  const unsigned = relaxed(own.replace(/([;:\s]b=)[^;]*/, '$1'));
  const input = Buffer.from(covered.join('') + unsigned, 'latin1');
  return {
    tags,
    signed,
    bodyHolds: tags.get('bh') === bodyHash,
    signatureHolds: verify('sha256', input, publicKey, Buffer.from(tags.get('b') ?? '', 'base64')),
  };
}
