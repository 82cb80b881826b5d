/** Prose to add to a piece: with it, 500 words make a long read with contents, footnotes and code. */
export const LONG_READ = `
## How a laboratory counts

A counter takes the beam, and a computer takes the counter.[^counter] What it runs is short. The figure comes from the
resolution itself,[^1] and nobody may round it.[^rounding]

\`\`\`python
HERTZ = 9_192_631_770  # exact, by definition [^1]

def seconds(periods: int) -> float:
    """How long so many periods of caesium take."""
    if periods < 0:
        raise ValueError(f"{periods} periods are fewer than none")
    return periods / HERTZ
\`\`\`

### The settings that it reads

The file that tells it where the counter is has three lines, and one of them is a trap: a port without quotation marks is
a number.[^counter]

\`\`\`yaml
counter: { host: "10.0.0.7", port: 4001 }
average: 60s # not less
leap_seconds: [2015-06-30, 2016-12-31]
\`\`\`

## What a program may not do

It may not ask the clock that it is to check. It may not drop a count that looks wrong, and it may not stop for a night
because the paper in the printer has run out, which is what happened to the first of them.

\`\`\`ts
type Count = { at: Date; periods: bigint };

/** Keeps every count, wrong ones too. */
export async function record(counts: AsyncIterable<Count>, log = "counts.jsonl"): Promise<number> {
  let kept = 0;
  for await (const { at, periods } of counts) {
    await append(log, JSON.stringify({ at, periods: \`\${periods}\` }) + "\\n"); // never < 0
    kept += 1;
  }
  return kept;
}
\`\`\`

[^counter]: A counter of this kind adds one for each period and knows nothing else. It is read once in a second, which is
    also what it defines.

    Two of them stand side by side, so that a fault of one shows.
[^rounding]: The digits are part of the law.[^1] See also how the counter is read.[^counter]
`;
