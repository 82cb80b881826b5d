import { LOG_SLUG, paperRoot } from '../../desk/papers/paper.ts';
import type { Policy } from '../../proof/log/policy.ts';
import type { Receipt } from '../../proof/receipt.ts';
import { type LogView, logView, type PieceView } from '../../shared/transparency/log-view.ts';
import type { Store } from '../../store/store.ts';

/** The view of the news desk's log; `origin` is the address of the shared host. */
export function deskLogView(
  { store }: { store: Store },
  { origin, policy }: { origin: string; policy: Policy | null },
): LogView {
  const pieceOf = ({ paper: slug, piece }: Receipt): PieceView | null => {
    const paper = store.desk.paper(slug);
    const story = paper?.paper_public ? store.desk.archive(slug).storyById(piece) : null;
    if (paper === null || story?.state !== 'on_air') return null;
    const { headline, language } = story;
    return { headline, language, url: `${paperRoot(paper, origin)}/stories/${story.slug}/` };
  };
  return logView(store.database.log, { log: 'desk', url_absolute: `${origin}/${LOG_SLUG}/`, policy, pieceOf });
}
