import type { MailColors } from '../../shared/outbound/mail-content.ts';

/** System fonts: a mail loads no fonts. */
export const MONO = "ui-monospace, 'SF Mono', 'Cascadia Mono', Menlo, Consolas, monospace";
export const SERIF = "Charter, 'Iowan Old Style', 'Source Serif 4', 'Noto Serif', Georgia, 'Times New Roman', serif";
export const SANS = "'Helvetica Neue', 'Segoe UI', Roboto, 'Noto Sans', Arial, sans-serif";

/**
 * The colors of the domain records in a format that mail programs support, copied from src/layouts/records/tokens.css.
 */
export const RECORDS_MAIL: { light: MailColors; dark: MailColors } = {
  light: {
    paper: '#f5f8f8',
    ink: '#141d1f',
    soft: '#354244',
    faint: '#4b595b',
    rule: '#d2dada',
    accent: '#005a57',
    plate: '#152a2b',
    on_accent: '#f8fcfc',
  },
  dark: {
    paper: '#0c1415',
    ink: '#e6ebeb',
    soft: '#c2caca',
    faint: '#a2acac',
    rule: '#2b3536',
    accent: '#74d6cb',
    plate: '#e2f1ef',
    on_accent: '#04191a',
  },
};

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
