import { exitCodes } from './exit-codes.ts'
import { createProcessIo } from './process-io.ts'
import { run } from './run.ts'

/** The command as a process: arguments in, exit code out. */
export async function main(): Promise<void> {
  using io = createProcessIo()
  try {
    process.exitCode = await run(process.argv.slice(2), io)
  } catch (error) {
    // Only a fault of the runner itself arrives here; a stack would still help nobody at a terminal.
    process.stderr.write(`error: ${error instanceof Error ? error.message : String(error)}\n`)
    process.exitCode = exitCodes.failed
  }
}
