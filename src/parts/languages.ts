const RIGHT_TO_LEFT = new Set(['ar', 'ckb', 'dv', 'fa', 'he', 'ps', 'sd', 'ug', 'ur', 'yi']);

/** The direction in which a language is written. */
export function direction(language: string): 'ltr' | 'rtl' {
  const [primary = ''] = language.toLowerCase().split('-');
  return RIGHT_TO_LEFT.has(primary) ? 'rtl' : 'ltr';
}

/** Attributes for a text that is not in the language around it; none when it is. */
export function spoken(language: string, around: string): { lang?: string; dir?: 'ltr' | 'rtl' } {
  return language === around ? {} : { lang: language, dir: direction(language) };
}
