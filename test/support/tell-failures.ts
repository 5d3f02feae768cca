import { afterEach } from 'vitest'

/** Each says how something that a test uses stands, for the output of one that fails. */
export const tellers = new Set<() => Promise<string>>()

afterEach(async ({ task }) => {
  if (task.result?.state !== 'fail') return
  for (const tell of tellers) process.stderr.write(`${await tell().catch(String)}\n`)
})
