// Y4: one fdatasync of 600 bytes, median of 2,000, in microseconds.
import { closeSync, fdatasyncSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export const fdatasyncMicroseconds = () => {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-y4-'))
  const file = openSync(join(folder, 'y4'), 'w')
  const bytes = Buffer.alloc(600, 1)
  const samples = []
  for (let i = 0; i < 2_000; i += 1) {
    const startedAt = performance.now()
    writeSync(file, bytes)
    fdatasyncSync(file)
    samples.push((performance.now() - startedAt) * 1000)
  }
  closeSync(file)
  rmSync(folder, { recursive: true })
  return samples.toSorted((a, b) => a - b)[1_000]
}
