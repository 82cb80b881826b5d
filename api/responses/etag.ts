/** Whether If-None-Match names the ETag (RFC 9110, section 13.1.2: weakly compared). */
export function matchesEtag(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false;
  return header.trim() === '*' || header.split(',').some((known) => known.trim().replace(/^W\//, '') === etag);
}
