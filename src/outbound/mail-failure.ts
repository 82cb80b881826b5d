/**
 * Why an attempt failed, reduced to what may be logged: the server's text may contain the address, so it is left out.
 */
export interface FailureWords {
  /** The mailer's error code, such as EENVELOPE or ETIMEDOUT. */
  code: string;
  /** The SMTP command that failed, such as `RCPT TO`. */
  command: string | null;
  /** The reply code, and the enhanced one (RFC 3463) if there is one. */
  reply: number | null;
  enhanced: string | null;
}

/**
 * What a failure affects. `reader`: the address does not accept mail, and must not be tried again. `mail`: this mail
 * may be accepted later. `refused`: this mail was rejected permanently, but not because of its mailbox. `server`: all
 * mails have to wait.
 */
export type FailureSide = 'reader' | 'mail' | 'refused' | 'server';

/** Reply codes that concern the mailbox unless an enhanced code says more (RFC 5321, section 4.2.3). */
const NO_MAILBOX = new Set([550, 551, 553]);

export function failureWords(error: unknown): FailureWords {
  const { code, command, responseCode, response, name } = Object(error) as Record<string, unknown>;
  const reply = typeof responseCode === 'number' ? responseCode : null;
  const enhanced = typeof response === 'string' ? /^\d{3}[ -]([245]\.\d{1,3}\.\d{1,3})\b/.exec(response)?.[1] : null;
  return {
    code: typeof code === 'string' ? code : typeof name === 'string' ? name : 'failed',
    command: typeof command === 'string' ? command : null,
    reply,
    enhanced: enhanced ?? null,
  };
}

/** Classifies a failure. */
export function faultOf({ code, command, reply, enhanced }: FailureWords): FailureSide {
  // "Service not available, closing" may answer any command.
  if (reply === 421) return 'server';
  const isAtRecipient = command === 'RCPT TO';
  // A mail has one recipient, so the reply to its text may be about the mailbox too.
  if ((isAtRecipient || command === 'DATA') && reply !== null && reply >= 500) {
    return isNoMailbox(reply, enhanced, isAtRecipient) ? 'reader' : 'refused';
  }
  if (isAtRecipient || command === 'DATA' || code === 'EMESSAGE' || code === 'AbortError' || code === 'TimeoutError')
    return 'mail';
  return /^(?:EAUTH|ECONNECTION|EDNS|ESOCKET|ETIMEDOUT|ETLS|EPROTOCOL|EENVELOPE|EREQUIRETLS)$/.test(code)
    ? 'server'
    : 'mail';
}

/**
 * A policy, a full mailbox or an internal error does not invalidate an address; neither does a rejection of the text
 * without an enhanced code.
 */
function isNoMailbox(reply: number, enhanced: string | null, isAtRecipient: boolean): boolean {
  return enhanced === null ? isAtRecipient && NO_MAILBOX.has(reply) : /^5\.(?:1\.\d+|2\.1)$/.test(enhanced);
}
