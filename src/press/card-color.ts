/** A colour of a paper's hue as `#rrggbb`: the given lightness, and as much of the chroma as sRGB can show. */
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

/** OKLCH to linear sRGB, by the matrices of CSS Color 4. */
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
