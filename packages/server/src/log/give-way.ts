import os from 'node:os'

/** By so much a thread that nobody waits for gives way. Only Linux knows priorities of threads. */
const nicer = 10

export const giveWay = (): void => {
  if (process.platform !== 'linux') return
  try {
    os.setPriority(0, Math.min(19, os.getPriority(0) + nicer))
  } catch {
    // A hardened unit may forbid it; then all threads come in turn.
  }
}
