import type { Writable } from 'node:stream'
import type { SandboxChild } from '../ports/sandbox.ts'

/** A program that does not read its input has its reasons; what it leaves is dropped. */
export const inputOf = (stdin: Writable): SandboxChild['stdin'] => {
  stdin.on('error', () => {})
  return {
    write: (bytes) =>
      new Promise((resolve) => {
        if (stdin.writable) stdin.write(bytes, () => resolve())
        else resolve()
      }),
    end: () => {
      stdin.end()
    },
  }
}
