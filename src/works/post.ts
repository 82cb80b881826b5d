import { join } from 'node:path';
import { paperRoot } from '../desk/paper.ts';
import { confirmMail } from '../readers/confirm-mail.ts';
import type { Mail, MailRecord } from '../readers/mail.ts';
import type { Post } from '../readers/post.ts';
import { sendDue } from '../readers/post.ts';
import type { ReaderDesk } from '../readers/reader-desk.ts';
import { CONFIRM_LASTS, tokenHash, tokenOf } from '../readers/token.ts';
import { outboxFolder } from '../store/outbox-folder.ts';
import type { Workshop } from './workshop.ts';

/** The one who sends mails for this process, one round at a time. */
export class PostRoom {
  readonly #post: Post;
  #round: Promise<void> | null = null;
  #again = false;

  constructor(shop: Workshop, desk: ReaderDesk, failed: Post['failed']) {
    this.#post = {
      mails: desk.mails,
      mailer: outboxFolder(join(shop.settings.dataDir, 'outbox')),
      now: shop.now,
      compose: (mail) => compose(shop, desk, mail),
      failed,
    };
  }

  /** Sends what is due; who asks during a round gets another after it. Resolves when nothing is due. */
  send(): Promise<void> {
    if (this.#round !== null) {
      this.#again = true;
      return this.#round;
    }
    this.#round = this.#rounds().finally(() => {
      this.#round = null;
    });
    return this.#round;
  }

  async #rounds(): Promise<void> {
    do {
      this.#again = false;
      await sendDue(this.#post);
    } while (this.#again);
  }
}

/** A mail as it is to be sent. The token of its link is kept, by its hash, before it goes out. */
function compose({ store, settings }: Workshop, desk: ReaderDesk, mail: MailRecord): Mail | null {
  const row = desk.subscribers.byId(mail.subscriber);
  const paper = store.paper(mail.paper);
  if (row === null || paper === null || mail.kind !== 'confirm') return null;
  const token = tokenOf(desk.secret, 'confirm', mail.id);
  desk.tokens.keep({
    hash: tokenHash(token),
    paper: mail.paper,
    reader: row.reader,
    purpose: 'confirm',
    expires_at: desk.now() + CONFIRM_LASTS,
    used_at: null,
  });
  const { nameplate, contact, slug } = paper;
  // A private paper shows itself on no domain of its own; its readers' pages are on the shared host.
  const root = paper.paper_public ? paperRoot(paper, settings.origin) : `${settings.origin}/${slug}`;
  return confirmMail(mail, row, { nameplate, contact, root }, token);
}
