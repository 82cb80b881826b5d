import satori from 'satori';
import sharp from 'sharp';
import { type Cover, COVER_SIDE as SIDE } from '../../media/card/card.ts';
import { hueColor } from '../../media/card/card-color.ts';
import { typeset } from '../../media/card/card-fonts.ts';
import { box } from '../../media/card/card-layout.ts';
import { fitLines } from '../../media/card/card-lines.ts';

const MARGIN = 130;
const SIZES = [300, 260, 230, 200, 175, 150, 130, 110, 90];

export async function drawCover({ nameplate, hue, language }: Cover): Promise<Uint8Array> {
  const set = typeset(nameplate, 'serif', language);
  const room = { width: SIDE - 2 * MARGIN, height: SIDE - 4 * MARGIN, sizes: SIZES, leading: 1.08 };
  const { size, lines } = fitLines(set.text, language, room, (part) => set.width(part) * 1.02);
  const ink = hueColor(0.985, 0.01, hue);
  const rule = (height: number) => box({ width: SIDE - 2 * MARGIN, height, backgroundColor: ink });
  const line = { fontFamily: set.family.join(', '), fontWeight: set.weight, fontSize: size, lineHeight: 1 };
  const element = box(
    {
      flexDirection: 'column',
      justifyContent: 'center',
      alignItems: 'center',
      gap: 40,
      width: SIDE,
      height: SIDE,
      color: ink,
      backgroundColor: hueColor(0.37, 0.145, hue),
    },
    rule(14),
    ...(set.missing.length > 0 ? [] : lines).map((text) => box(line, text)),
    rule(14),
  );
  const svg = await satori(element, { width: SIDE, height: SIDE, fonts: set.fonts });
  return sharp(Buffer.from(svg)).png({ palette: true, compressionLevel: 9 }).toBuffer();
}
