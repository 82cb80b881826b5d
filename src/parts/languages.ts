const RIGHT_TO_LEFT = new Set(['ar', 'ckb', 'dv', 'fa', 'he', 'ps', 'sd', 'ug', 'ur', 'yi']);

/** The writing direction of a language. */
export function direction(language: string): 'ltr' | 'rtl' {
  const [primary = ''] = language.toLowerCase().split('-');
  return RIGHT_TO_LEFT.has(primary) ? 'rtl' : 'ltr';
}

/** `lang` and `dir` attributes for a text whose language differs from the surrounding one; else none. */
export function spoken(language: string, around: string): { lang?: string; dir?: 'ltr' | 'rtl' } {
  return language === around ? {} : { lang: language, dir: direction(language) };
}
