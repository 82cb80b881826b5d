/** The text of a response; null when it exceeds the limit in bytes, which are counted as they arrive. */
export async function textOf(response: Response, longest: number): Promise<string | null> {
  const reader = response.body?.getReader();
  const decoder = new TextDecoder();
  let [text, length] = ['', 0];
  for (let step = await reader?.read(); step?.done === false; step = await reader?.read()) {
    length += step.value.length;
    if (length > longest) {
      await reader?.cancel();
      return null;
    }
    text += decoder.decode(step.value, { stream: true });
  }
  return text + decoder.decode();
}
