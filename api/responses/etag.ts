/** Whether If-None-Match contains the ETag, by weak comparison (RFC 9110, section 13.1.2). */
export function matchesEtag(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false;
  return header.trim() === '*' || header.split(',').some((known) => known.trim().replace(/^W\//, '') === etag);
}
