import * as z from 'zod';
import { count, file, refuse } from './variable.ts';

/** How mail is sent and signed. */
export const mail = z
  .object({
    /**
     * The mail server: `smtps://user:password@host` or `smtp://host:port`. Certificates are verified; a password is
     * sent over TLS only. Without one, mails are written as files to the outbox folder of DATA_DIR.
     */
    SMTP_URL: z.url({ protocol: /^smtps?$/, hostname: /./, error: 'must be an smtp or smtps address' }).optional(),
    /** The sender address of mails; replies go to the paper's `contact`. Required with SMTP_URL. */
    MAIL_FROM: z.email({ error: 'must be a mail address, without a name' }).optional(),
    /** The most mails per minute; 0 for no limit. */
    MAILS_PER_MINUTE: count(600),
    /**
     * The RSA key in PEM that signs mails (DKIM), and its selector; the domain is that of MAIL_FROM. Both or neither.
     */
    DKIM_KEY_FILE: file().optional(),
    DKIM_SELECTOR: z
      .string()
      .regex(/^[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?$/i, 'must be a selector, such as 2026a')
      .optional(),
  })
  .superRefine((env, context) => {
    if (env.SMTP_URL !== undefined && env.MAIL_FROM === undefined) {
      refuse(context, 'MAIL_FROM', 'must be set when SMTP_URL is set');
    }
    if ((env.DKIM_KEY_FILE === undefined) !== (env.DKIM_SELECTOR === undefined)) {
      refuse(context, 'DKIM_SELECTOR', 'must be set together with DKIM_KEY_FILE');
    }
  })
  .transform((env) => ({
    smtpUrl: env.SMTP_URL,
    mailFrom: env.MAIL_FROM,
    /** Null for no limit. */
    mailsPerMinute: env.MAILS_PER_MINUTE === 0 ? null : env.MAILS_PER_MINUTE,
    dkim:
      env.DKIM_KEY_FILE === undefined || env.DKIM_SELECTOR === undefined
        ? null
        : { keyFile: env.DKIM_KEY_FILE, selector: env.DKIM_SELECTOR },
  }));
