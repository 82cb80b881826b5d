import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** The used functions of `hb-subset.wasm`, from harfbuzzjs. Pointers are numbers. */
interface HarfBuzz {
  memory: WebAssembly.Memory;
  _initialize?(): void;
  malloc(size: number): number;
  free(pointer: number): void;
  hb_blob_create(data: number, length: number, mode: number, user: number, destroy: number): number;
  hb_blob_destroy(blob: number): void;
  hb_blob_get_data(blob: number, length: number): number;
  hb_blob_get_length(blob: number): number;
  hb_face_create(blob: number, index: number): number;
  hb_face_destroy(face: number): void;
  hb_face_reference_blob(face: number): number;
  hb_set_add(set: number, value: number): void;
  hb_set_clear(set: number): void;
  hb_subset_input_create_or_fail(): number;
  hb_subset_input_destroy(input: number): void;
  hb_subset_input_set(input: number, kind: number): number;
  hb_subset_input_set_flags(input: number, flags: number): void;
  hb_subset_input_unicode_set(input: number): number;
  hb_subset_input_pin_axis_location(input: number, face: number, axis: number, value: number): number;
  hb_subset_or_fail(face: number, input: number): number;
}

// From hb-subset.h.
const NO_HINTING = 1;
const LAYOUT_FEATURES = 6;
const MEMORY_WRITABLE = 2;

let loaded: HarfBuzz | undefined;

function harfBuzz(): HarfBuzz {
  if (loaded) return loaded;
  const wasm = readFileSync(fileURLToPath(import.meta.resolve('harfbuzzjs/hb-subset.wasm')));
  const { exports } = new WebAssembly.Instance(new WebAssembly.Module(wasm));
  loaded = exports as unknown as HarfBuzz;
  loaded._initialize?.();
  return loaded;
}

const tagNumber = (tag: string): number => Buffer.from(tag, 'latin1').readUInt32BE(0);

/**
 * The subset of a font for these code points, without hints. Keeps the OpenType features `features` and the glyphs that
 * they lead to. A variable font is set to `weight`.
 */
export function subsetFont(
  font: Buffer,
  codes: Iterable<number>,
  { features, weight }: { features: readonly string[]; weight?: number },
): Buffer {
  const hb = harfBuzz();
  const source = hb.malloc(font.length);
  // After `malloc`, because memory that grows gets a new buffer.
  new Uint8Array(hb.memory.buffer).set(font, source);
  const blob = hb.hb_blob_create(source, font.length, MEMORY_WRITABLE, 0, 0);
  const face = hb.hb_face_create(blob, 0);
  hb.hb_blob_destroy(blob);
  const input = hb.hb_subset_input_create_or_fail();
  hb.hb_subset_input_set_flags(input, NO_HINTING);
  const kept = hb.hb_subset_input_set(input, LAYOUT_FEATURES);
  hb.hb_set_clear(kept);
  for (const feature of features) hb.hb_set_add(kept, tagNumber(feature));
  const unicodes = hb.hb_subset_input_unicode_set(input);
  for (const code of codes) hb.hb_set_add(unicodes, code);
  if (weight !== undefined) hb.hb_subset_input_pin_axis_location(input, face, tagNumber('wght'), weight);
  const subset = hb.hb_subset_or_fail(face, input);
  hb.hb_subset_input_destroy(input);
  hb.hb_face_destroy(face);
  hb.free(source);
  if (subset === 0) throw new Error('HarfBuzz could not make a subset of a font of a package');
  const result = hb.hb_face_reference_blob(subset);
  const start = hb.hb_blob_get_data(result, 0);
  const bytes = Buffer.from(hb.memory.buffer.slice(start, start + hb.hb_blob_get_length(result)));
  hb.hb_blob_destroy(result);
  hb.hb_face_destroy(subset);
  return bytes;
}
