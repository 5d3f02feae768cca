import { staticSpecifiersIn, targetOf, withoutComments } from './imports.mjs'

/** The shortest way from a file back to itself, without that file; null where there is none. */
const findCycle = (start, imports) => {
  const from = new Map()
  const queue = [start]
  for (const file of queue)
    for (const target of imports.get(file) ?? []) {
      if (target === start) {
        const way = []
        for (let at = file; at !== start; at = from.get(at)) way.unshift(at)
        return way
      }
      if (from.has(target)) continue
      from.set(target, file)
      queue.push(target)
    }
  return null
}

/** Files that import each other in a circle, for values or for types alone: one line for each circle. */
export const findImportCycles = (files) => {
  const imports = new Map(
    files.map(({ file, text }) => [
      file,
      staticSpecifiersIn(withoutComments(text)).map((specifier) => targetOf(specifier, file)),
    ]),
  )
  const told = new Set()
  return [...imports.keys()]
    .toSorted((a, b) => (a < b ? -1 : 1))
    .flatMap((file) => {
      const way = told.has(file) ? null : findCycle(file, imports)
      if (!way) return []
      for (const name of [file, ...way]) told.add(name)
      return [`${file} imports itself by way of ${way.join(', ') || 'nothing else'}`]
    })
}
