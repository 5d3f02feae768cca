import {
  type CliResult,
  invoke,
  invokeOnce,
  Installation as OfProgram,
  pause,
  type Run,
  rpc,
  untilTaken,
} from '../../packages/cli/src/selftest/installation.ts'

export { type CliResult, invoke, invokeOnce, pause, type Run, rpc, untilTaken }

export const bin = new URL('../../packages/cli/bin/gatehouse.js', import.meta.url).pathname

/** A data directory of its own, and the command of this checkout working on it. */
export class Installation extends OfProgram {
  constructor(dataDir?: string) {
    super({ command: [process.execPath, bin], environment: process.env }, dataDir)
  }
}
