import { readdirSync, readFileSync } from 'node:fs'
import type { ProcessSample } from '../ports/processes.ts'

/** Unit of processor time in Linux, on every machine that Node runs on. */
const ticksPerSecond = 100
const processesMax = 4_096

const childrenOf = (pid: number): readonly number[] => {
  try {
    return readdirSync(`/proc/${pid}/task`).flatMap((task) =>
      readFileSync(`/proc/${pid}/task/${task}/children`, 'latin1')
        .split(' ')
        .filter((text) => text.trim() !== '')
        .map(Number),
    )
  } catch {
    return []
  }
}

const usageOf = (pid: number): { cpu_ms: number; memory_bytes: number } | null => {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    const ticks = [11, 12, 13, 14].reduce((sum, at) => sum + Number(fields[at] ?? 0), 0)
    const resident = /^VmRSS:\s*(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1]
    return {
      cpu_ms: Math.round((ticks * 1000) / ticksPerSecond),
      memory_bytes: Number(resident ?? 0) * 1024,
    }
  } catch {
    return null
  }
}

/** Resources of a process and all below it now; null once it is gone, and where there is no `/proc`. */
export const sampleOf = (pid: number): ProcessSample | null => {
  const pids = [pid]
  // Grows while it is walked, so it ends with the last descendant.
  for (let at = 0; at < pids.length && pids.length < processesMax; at += 1)
    pids.push(...childrenOf(pids[at] as number))
  const usages = pids.map(usageOf).filter((usage) => usage !== null)
  if (usages.length === 0) return null
  return {
    cpu_ms: usages.reduce((sum, { cpu_ms }) => sum + cpu_ms, 0),
    memory_bytes: usages.reduce((sum, { memory_bytes }) => sum + memory_bytes, 0),
    processes: usages.length,
  }
}
