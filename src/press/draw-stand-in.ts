import sharp from 'sharp';
import { isOneOf } from '../narrow.ts';

const FORMATS = ['jpeg', 'png', 'webp', 'avif', 'gif'] as const;

/** A stand-in in the format that the address of its picture names. */
export function drawStandIn(svg: Uint8Array, format: string): Promise<Uint8Array> {
  if (!isOneOf(FORMATS, format)) throw new Error(`no picture is of the format ${format}`);
  return sharp(svg).toFormat(format).toBuffer();
}
