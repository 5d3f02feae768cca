const oneSpace = (text: string): string => text.replaceAll(/\s+/g, ' ').trim()

/** Whether an output has what the page shows of it. Line ends are the page's own; `…` stands for anything. */
export const hasOutput = (output: string, shown: string): boolean => {
  const parts = oneSpace(shown)
    .split('…')
    .map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'))
  return new RegExp(parts.join('[^]*?')).test(oneSpace(output))
}

/** Differences in shape: other keys, or other types where neither is null. */
export const shapeDifferences = (real: unknown, shown: unknown, at = ''): string[] => {
  if (real === null || shown === null) return []
  if (typeof real !== typeof shown || Array.isArray(real) !== Array.isArray(shown))
    return [`${at || 'the value'} has another type`]
  if (typeof real !== 'object' || Array.isArray(real)) return []
  const [left, right] = [real, shown as object] as [
    Record<string, unknown>,
    Record<string, unknown>,
  ]
  const keys = new Set([...Object.keys(left), ...Object.keys(right)])
  return [...keys].flatMap((key) => {
    const place = `${at}.${key}`
    if (!(key in left)) return [`${place} is not there`]
    if (!(key in right)) return [`${place} is not shown`]
    return shapeDifferences(left[key], right[key], place)
  })
}
