import { spawn } from 'node:child_process'
import { once } from 'node:events'
import type { CliResult } from './server.ts'

/** Runs a line as a client runs that of a hook: by the shell, with what it says of a call as its input. */
export async function runLine(line: string, input: string, home: string): Promise<CliResult> {
  const child = spawn('/bin/sh', ['-c', line], {
    stdio: ['pipe', 'pipe', 'pipe'],
    env: { HOME: home },
  })
  const out = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'] as const)
    child[name].setEncoding('utf8').on('data', (chunk) => {
      out[name] += chunk
    })
  // A hook that refuses before it reads closes its input.
  child.stdin.on('error', () => {}).end(input)
  await once(child, 'close')
  return { code: child.exitCode ?? -1, ...out }
}
