import type { MailColors } from '../../outbound/mail-content.ts';

/** The colors of the records in a form that mail programs support, after src/layouts/records/tokens.css. */
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

/** Monospaced system fonts. */
export const MONO = "ui-monospace, 'SF Mono', 'Cascadia Mono', Menlo, Consolas, monospace";
