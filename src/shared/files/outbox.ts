import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Mailer } from '../outbound/mail.ts';
import { makeFolder, putFile } from './durable-file.ts';

/**
 * Writes mails into a folder, one `.eml` file each, when no mail server is configured. Files are named after the
 * Message-ID, so that a mail sent again replaces itself.
 */
export function outboxFolder(folder: string): Mailer {
  return {
    async send(mail) {
      // A server loads its mailer with its first mail.
      const { createTransport } = await import('nodemailer');
      const transport = createTransport({
        streamTransport: true,
        buffer: true,
        newline: 'unix',
        disableFileAccess: true,
        disableUrlAccess: true,
      });
      const { message } = await transport.sendMail({ ...mail, to: { name: '', address: mail.to } });
      makeFolder(folder, 0o700);
      const name = mail.messageId.replace(/^<|@.*$/g, '');
      // Durable before the mail is marked as sent, because it is never sent again.
      putFile(join(folder, `${name}.eml`), (aside) => writeFileSync(aside, message as Buffer, { mode: 0o600 }));
    },
  };
}
