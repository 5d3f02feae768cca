import path from 'node:path'

const shown = 15

const seconds = (ms) => `${Math.round(ms / 1000)} s`

/** Stages of a run, as far as a file's place says. */
const stageOf = (file) => {
  if (file.startsWith('test/')) return 'e2e'
  if (file.includes('/storage/postgres/')) return 'postgres'
  return /^packages\/[^/]+\/test\//.test(file) ? 'integration' : 'unit'
}

/** Lines that say where the time of a run went, from its report: by stage, and the files that took most of it. */
export const timeReport = ({ testResults }, root) => {
  const files = testResults.map(({ name, startTime, endTime }) => ({
    file: path.relative(root, name).split(path.sep).join('/'),
    startTime,
    endTime,
  }))
  const stages = new Map()
  for (const one of files) {
    const stage = stageOf(one.file)
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
