import { createProcessIo } from './process-io.ts'
import { run } from './run.ts'

/** The command as a process: arguments in, exit code out. */
export async function main(): Promise<void> {
  using io = createProcessIo()
  process.exitCode = await run(process.argv.slice(2), io)
}
