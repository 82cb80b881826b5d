import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createTransport } from 'nodemailer';
import type { Mailer } from '../readers/mail.ts';

/**
 * Writes mails into a folder, one `.eml` each, where no mail server is set. The
 * name is that of the Message-ID: a mail that is sent again takes its own place.
 */
export function outboxFolder(folder: string): Mailer {
  const transport = createTransport({
    streamTransport: true,
    buffer: true,
    newline: 'unix',
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  return {
    async send(mail) {
      const { message } = await transport.sendMail({ ...mail, to: { name: '', address: mail.to } });
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      const name = mail.messageId.replace(/^<|@.*$/g, '');
      const aside = join(folder, `.${name}.${process.pid}`);
      writeFileSync(aside, message as Buffer, { mode: 0o600 });
      renameSync(aside, join(folder, `${name}.eml`));
    },
  };
}
