/** Why an attempt failed, as far as it may be logged: nothing of the server's text, which may contain the address. */
export interface FailureWords {
  /** The mailer's own word, such as EENVELOPE or ETIMEDOUT. */
  code: string;
  /** The SMTP command that failed, such as `RCPT TO`. */
  command: string | null;
  /** The reply code, and the enhanced one (RFC 3463) where there is one. */
  reply: number | null;
  enhanced: string | null;
}

/**
 * Whose fault a failure is. `reader`: the address does not accept mail, and must not be tried again. `mail`: this one
 * may go later. `refused`: this one was refused for good, though not for want of a mailbox. `server`: all have to wait.
 */
export type FailureSide = 'reader' | 'mail' | 'refused' | 'server';

/** Reply codes that are about the mailbox where no enhanced code says more (RFC 5321, section 4.2.3). */
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

/** Whose fault a failure is, by its words. */
export function faultOf({ code, command, reply, enhanced }: FailureWords): FailureSide {
  // "Service not available, closing": whatever the command was.
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

/** A policy, a full mailbox or an internal error does not end an address; neither does a bare refusal of the text. */
function isNoMailbox(reply: number, enhanced: string | null, isAtRecipient: boolean): boolean {
  return enhanced === null ? isAtRecipient && NO_MAILBOX.has(reply) : /^5\.(?:1\.\d+|2\.1)$/.test(enhanced);
}
