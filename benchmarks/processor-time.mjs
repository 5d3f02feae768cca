import { readFileSync } from 'node:fs'

const ticksPerSecond = 100

/** Processor time of one process with all its threads, as the system counts it. */
export const processorMicroseconds = (pid) => {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ')
  return ((Number(fields[11]) + Number(fields[12])) / ticksPerSecond) * 1e6
}
