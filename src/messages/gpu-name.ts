/**
 * What a person calls a GPU, short enough for a title: `gpu 3, NVIDIA H100 80GB HBM3` → `gpu 3 (H100)`.
 * @param subjectName as the exporter's page names it; other subjects have none of this form.
 */
export function shortGpu(subjectName: string | undefined): string | undefined {
  const [, index, model] = /^gpu (\d+)(?:, (.+))?$/i.exec(subjectName ?? '') ?? []
  if (index === undefined) return undefined
  const short = model === undefined ? undefined : shortModel(model)
  return short ? `gpu ${index} (${short})` : `gpu ${index}`
}

/** The word that tells models apart: `H100`, `A100`, `L4`, `RTX 4090`. */
function shortModel(model: string): string {
  const words = model
    .replace(/\\/g, '')
    .replace(/\b(NVIDIA|Tesla|GeForce|Quadro)\b/gi, '')
    .trim()
    .split(/\s+/)
  const [first = '', second = ''] = words
  return /^(RTX|GTX|Titan)$/i.test(first) ? `${first} ${second}`.trim() : (first.split('-')[0] ?? first)
}
