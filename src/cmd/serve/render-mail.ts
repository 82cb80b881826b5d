import { loadBuild } from '../../desk/press/build.ts';
import type { RenderMail } from '../../shared/outbound/letter.ts';

/** Renders mails with the pages of the build. */
export const renderMail: RenderMail = async (content) => (await loadBuild()).render('/mail', content);
