/** A color of a paper's hue as `#rrggbb`, at the given lightness. Reduces the chroma to fit sRGB. */
export function hueColor(lightness: number, chroma: number, hue: number): string {
  let low = 0;
  let high = chroma;
  if (inGamut(linearRgb(lightness, chroma, hue))) low = chroma;
  for (let step = 0; step < 16 && low < chroma; step++) {
    const middle = (low + high) / 2;
    if (inGamut(linearRgb(lightness, middle, hue))) low = middle;
    else high = middle;
  }
  const channels = linearRgb(lightness, low, hue).map((value) => {
    const clipped = Math.min(1, Math.max(0, value));
    const encoded = clipped <= 0.0031308 ? 12.92 * clipped : 1.055 * clipped ** (1 / 2.4) - 0.055;
    return Math.round(encoded * 255)
      .toString(16)
      .padStart(2, '0');
  });
  return `#${channels.join('')}`;
}

/** The colors of a card or a portrait, as `#rrggbb`. Ink appears on ground and on shade, tint only on ground. */
export interface Palette {
  ground: string;
  shade: string;
  tint: string;
  ink: string;
}

/** White ink on a deep ground. Deep yellows and oranges look muddy, so these hues become the ground for dark ink. */
export function deepPalette(hue: number): Palette {
  if (hue >= 48 && hue <= 122) {
    return {
      ground: hueColor(0.83, 0.165, hue),
      shade: hueColor(0.785, 0.16, hue),
      tint: hueColor(0.37, 0.09, hue),
      ink: hueColor(0.21, 0.04, hue),
    };
  }
  return {
    ground: hueColor(0.37, 0.145, hue),
    shade: hueColor(0.42, 0.15, hue),
    tint: hueColor(0.86, 0.09, hue),
    ink: hueColor(0.985, 0.01, hue),
  };
}

export function palePalette(hue: number): Palette {
  return {
    ground: hueColor(0.91, 0.045, hue),
    shade: hueColor(0.855, 0.075, hue),
    tint: hueColor(0.42, 0.12, hue),
    ink: hueColor(0.33, 0.11, hue),
  };
}

/** Converts OKLCH to linear sRGB with the matrices of CSS Color 4. */
function linearRgb(lightness: number, chroma: number, hue: number): [number, number, number] {
  const a = chroma * Math.cos((hue * Math.PI) / 180);
  const b = chroma * Math.sin((hue * Math.PI) / 180);
  const l = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3;
  const m = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const s = (lightness - 0.0894841775 * a - 1.291485548 * b) ** 3;
  return [
    4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
    -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
    -0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s,
  ];
}

function inGamut(rgb: readonly number[]): boolean {
  return rgb.every((value) => value >= -0.0005 && value <= 1.0005);
}
