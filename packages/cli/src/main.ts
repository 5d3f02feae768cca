import { exitCodes } from './exit-codes.ts'
import { createProcessIo } from './process-io.ts'
import { run } from './run.ts'

/** The command as a process: arguments in, exit code out. */
export async function main(): Promise<void> {
  using io = createProcessIo()
  try {
    const code = await run(process.argv.slice(2), io)
    const failure = io.outputFailure()
    if (failure)
      await io.stderr.write(`error: The output could not be written: ${failure.message}
`)
    process.exitCode = failure && code === exitCodes.done ? exitCodes.failed : code
  } catch (error) {
    // Only a fault of the runner itself arrives here; a stack would still help nobody at a terminal.
    await io.stderr.write(`error: ${error instanceof Error ? error.message : String(error)}
`)
    process.exitCode = exitCodes.failed
  }
}
