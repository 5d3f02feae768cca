import { readFileSync } from 'node:fs'

/** Processor time that this process has used so far, in ms: what others take meanwhile on a busy machine adds nothing to it. */
export const processorMs = (): number => {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1_000
}

/** The same of this thread alone, from Linux's scheduler; that of the process where there is none. */
export const threadMs = (): number => {
  try {
    const [ranNs = ''] = readFileSync('/proc/thread-self/schedstat', 'utf8').split(' ')
    return Number(ranNs) / 1e6
  } catch {
    return processorMs()
  }
}
