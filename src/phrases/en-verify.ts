/**
 * The English words of the browser's check of a piece; the details of a false proof are in English in every language.
 * This is a file of its own, because the script of the check contains this part of the table, and no other.
 */
export const verify = {
  checking: 'Checking…',
  again: 'Check again',
  holds: 'Holds',
  fails: 'Fails',
  checks: 'The checks',
  held: 'All checks hold: the paper’s door signed this very text, and it has not changed since. That is no proof that a claim in it is true; for that, read the sources. And this page checked itself: whoever doubts the page runs the commands below.',
  failed: {
    one: '{count} of {all} checks failed: {names}. Reload the page and check again, for it may have been revised this minute. If it fails again, do not rely on this page: keep a copy of the proof and tell the paper.',
    other:
      '{count} of {all} checks failed: {names}. Reload the page and check again, for it may have been revised this minute. If it fails again, do not rely on this page: keep a copy of the proof and tell the paper.',
  },
  nothing: 'Nothing was checked: {reason}',
  insecure:
    'Nothing was checked: this page did not come over https, and browsers keep their cryptography from such pages. Open it over https, or check the proof by the commands below.',
  hash: 'The hash is that of the text',
  hash_found:
    'Your browser hashed the headline, summary, text, sources and byline in the proof anew, and got the hash that it states: {hash}.',
  receipt: 'The receipt is for this piece',
  receipt_found:
    'Receipt no. {seq} of “{paper}” names this piece, revision {revision}, and that hash. It was filed on {day} at {time} UTC.',
  clock_wrong: 'The server’s clock ran ahead then: this receipt was signed on {day} at {time} UTC at the latest.',
  signature: 'The paper’s door signed the receipt',
  signature_found:
    'The Ed25519 signature holds under the key of “{name}”, which the paper’s key document lists as {kid}.',
  chain: 'The chain of revisions is whole',
  chain_first: 'This is the first revision, and its receipt names none before it.',
  chain_found:
    'All {count} revisions are there. Each has a signed receipt, and each receipt names the hash of the one before it.',
  review: 'The approval by a person is signed',
  review_found:
    '{name} ({role}) approved revision {revision} on {day} at {time} UTC, and the paper’s door signed that.',
  evidence: 'The readings of the sources are signed',
  evidence_found:
    'Sources read: {count} of {total}. Quotes found in them: {quotes}. From {first} to {last} (UTC); the paper’s door signed each reading.',
  /** Follows, if the piece cites signed observations of hostnames. */
  evidence_observed:
    'Signed observations of domains among them: {count}. The signature, the fields and the address of each hold.',
  texts: 'The texts of the sources are those that were read',
  texts_found:
    'Texts compared: {count}. Each has the SHA-256 that the paper’s door signed, and each quote that was found is where the note says.',
  texts_absent: 'Texts of sources that are not on this site, and so were not compared: {count}.',
  texts_withheld:
    'The paper does not publish the texts that it read, so your browser could not compare them with the signed hashes.',
  page: 'This page shows that text',
  page_found:
    'Headline, summary, byline, section, text, links, sources and credit are word for word those of the proof. Pictures, dates and correction notes are not part of the hash and were not compared.',
  /** Follows, on a page with cards of links. */
  page_cards: 'Cards of links show what the linked pages said of themselves: only their addresses are signed.',
  log: 'The receipt is in the log',
  witnessed: 'The receipt is in the log, and witnesses have seen it',
  place:
    'It is leaf {index} of the log “{origin}”: your browser followed its path to the root of a head of {size} leaves, which the log has signed.',
  unconfirmed: 'No witness has confirmed this receipt yet, so that the paper alone answers for when it was signed.',
} as const;
