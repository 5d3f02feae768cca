import {
  type CliResult,
  invoke,
  Installation as OfProgram,
  pause,
  type Run,
  rpc,
} from '../../packages/cli/src/selftest/installation.ts'

export { type CliResult, invoke, pause, type Run, rpc }

export const bin = new URL('../../packages/cli/bin/gatehouse.js', import.meta.url).pathname

/** A data directory of its own, and the command of this checkout working on it. */
export class Installation extends OfProgram {
  constructor(dataDir?: string) {
    super({ command: [process.execPath, bin], environment: process.env }, dataDir)
  }
}

/** Waits until it is so; the test's own time limit ends it. */
export const until = async (isSo: () => Promise<boolean>): Promise<void> => {
  while (!(await isSo())) await pause(100)
}
