/** The sentences that `broadsheet import` puts after the writer, today and in earlier versions. */
const CREDITED = /^Written by ([^\n]+?)\.(?= (?:First published at|Licence:|Changes:|The mark-up was changed:) |$)/;

/**
 * The writer that a credit names, in the form in which imports have always written it; null for any other credit.
 * Pieces that were imported before filings had `written_by` are shown with it: their signed text stays as it is.
 */
export function creditedWriter(credit: string | null): string | null {
  return CREDITED.exec(credit ?? '')?.[1] ?? null;
}
