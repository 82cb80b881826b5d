import { LOG_SLUG, paperRoot } from '../desk/paper.ts';
import type { Policy } from '../ledger/log/policy.ts';
import type { Receipt } from '../ledger/receipt.ts';
import { logView } from '../transparency/log-view.ts';
import type { LogView, PieceView } from '../transparency/views.ts';
import type { AppContext } from './context.ts';

/** The view of the news desk's log; `origin` is the address of the shared host. */
export function deskLogView(
  { store }: Pick<AppContext, 'store'>,
  { origin, policy }: { origin: string; policy: Policy | null },
): LogView {
  const pieceOf = ({ paper: slug, piece }: Receipt): PieceView | null => {
    const paper = store.paper(slug);
    const story = paper?.paper_public ? store.archive(slug).storyById(piece) : null;
    if (paper === null || story?.state !== 'on_air') return null;
    const { headline, language } = story;
    return { headline, language, url: `${paperRoot(paper, origin)}/stories/${story.slug}/` };
  };
  return logView(store.log, { log: 'desk', url_absolute: `${origin}/${LOG_SLUG}/`, policy, pieceOf });
}
