import type { CapabilityContext } from '../../ports/capability.ts'

const everyMs = 250
const tailMax = 4_000

/** Tells the caller of the text so far, a few times a second; of a long one its end. */
export const toldOf = (
  ctx: Pick<CapabilityContext, 'progress'>,
  maxTokens: number,
): ((text: string) => void) => {
  let [parts, lastMs] = [0, -Infinity]
  return (text) => {
    parts += 1
    const nowMs = performance.now()
    if (nowMs - lastMs < everyMs) return
    lastMs = nowMs
    ctx.progress(parts, Math.max(parts, maxTokens), text.slice(-tailMax))
  }
}
