import type { MailColors } from '../../outbound/mail-content.ts';

/** System fonts: a mail loads no fonts. */
export const SERIF = "Charter, 'Iowan Old Style', 'Source Serif 4', 'Noto Serif', Georgia, 'Times New Roman', serif";
export const SANS = "'Helvetica Neue', 'Segoe UI', Roboto, 'Noto Sans', Arial, sans-serif";

/** The only style sheet of a mail: its colors in dark mode, which override the inline styles. */
export function sheetOf(dark: MailColors): string {
  const rules = [
    `.m-paper{background-color:${dark.paper}!important}`,
    `.m-ink{color:${dark.ink}!important}`,
    `.m-soft{color:${dark.soft}!important}`,
    `.m-faint{color:${dark.faint}!important}`,
    `.m-label{border-color:${dark.faint}!important}`,
    `.m-accent{color:${dark.accent}!important}`,
    `.m-plate{color:${dark.plate}!important}`,
    `.m-edge{border-color:${dark.plate}!important}`,
    `.m-rule{border-color:${dark.rule}!important}`,
    `.m-button{background-color:${dark.accent}!important;color:${dark.on_accent}!important}`,
  ];
  return `:root{color-scheme:light dark}@media (prefers-color-scheme:dark){${rules.join('')}}`;
}
