import path from 'node:path'
import { projectOf } from './test-limits.mjs'

const shown = 15

const seconds = (ms) => `${Math.round(ms / 1000)} s`

/** Lines that say where the time of a run went, from its report: by stage, and the files that took most of it. */
export const timeReport = ({ testResults }, root) => {
  const files = testResults.map(({ name, startTime, endTime }) => ({
    file: path.relative(root, name).split(path.sep).join('/'),
    startTime,
    endTime,
  }))
  const stages = new Map()
  for (const one of files) {
    const stage = projectOf(one.file)
    stages.set(stage, [...(stages.get(stage) ?? []), one])
  }
  const walls = [...stages].map(([stage, all]) => {
    const wall =
      Math.max(...all.map((one) => one.endTime)) - Math.min(...all.map((one) => one.startTime))
    return `${stage} ${seconds(wall)}`
  })
  const longest = files
    .toSorted((a, b) => b.endTime - b.startTime - (a.endTime - a.startTime))
    .slice(0, shown)
  return [
    `Time by stage: ${walls.join(', ')}. Longest files:`,
    ...longest.map(({ file, startTime, endTime }) => `  ${seconds(endTime - startTime)} ${file}`),
  ]
}
