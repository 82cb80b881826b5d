import { hueColor } from '../../media/card/card-color.ts';

/** A paper's colors for mail programs, few of which support OKLCH. Keep in sync with `tokens.css`. */
export function mailColors(hue: number) {
  const color = (lightness: number, chroma: number) => hueColor(lightness, chroma, hue);
  return {
    light: {
      paper: color(0.985, 0.0045),
      ink: color(0.2, 0.015),
      soft: color(0.38, 0.02),
      faint: color(0.46, 0.025),
      rule: color(0.86, 0.015),
      accent: color(0.44, 0.14),
      plate: color(0.33, 0.1),
      on_accent: color(0.985, 0.0045),
    },
    dark: {
      paper: color(0.185, 0.008),
      ink: color(0.935, 0.008),
      soft: color(0.8, 0.012),
      faint: color(0.72, 0.016),
      rule: color(0.34, 0.014),
      accent: color(0.8, 0.1),
      plate: color(0.9, 0.028),
      on_accent: color(0.185, 0.008),
    },
  };
}
