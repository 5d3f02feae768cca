import { execFileSync } from 'node:child_process'
import { closeSync, constants, mkdtempSync, openSync, readSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { platform } from 'node:process'
import { expect, onTestFinished, test, vi } from 'vitest'
import { LogOutput } from './log-output.ts'

const onLinux = platform === 'linux'

/** Both ends of a pipe. */
const createPipe = () => {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-test-'))
  const file = join(folder, 'pipe')
  execFileSync('mkfifo', [file])
  const reader = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK)
  const writer = openSync(file, constants.O_WRONLY)
  onTestFinished(() => {
    closeSync(writer)
    rmSync(folder, { recursive: true })
  })
  const read = (): string => {
    const bytes = Buffer.alloc(1024 * 1024)
    let length = 0
    try {
      for (;;) {
        const got = readSync(reader, bytes, length, bytes.length - length, null)
        if (got === 0) break
        length += got
      }
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error
    }
    return bytes.toString('utf8', 0, length)
  }
  return { writer, read, leave: () => closeSync(reader) }
}

test.runIf(onLinux)('drops and counts lines whose reader has gone', () => {
  const pipe = createPipe()
  const output = new LogOutput(pipe.writer)
  output.write('one\n')
  expect(pipe.read()).toBe('one\n')
  pipe.leave()
  output.write('two\n')
  output.write('three\n')
  expect(output.dropped).toBe(2)
})

test.runIf(onLinux)('drops and counts lines that do not fit the disk', () => {
  const full = openSync('/dev/full', 'w')
  onTestFinished(() => closeSync(full))
  const output = new LogOutput(full)
  output.write('one\n')
  expect(output.dropped).toBe(1)
})

test.runIf(onLinux)(
  'does not wait for a reader that reads nothing, and says what is missing',
  () => {
    vi.useFakeTimers()
    onTestFinished(() => void vi.useRealTimers())
    const pipe = createPipe()
    const output = new LogOutput(pipe.writer)
    const line = `${'x'.repeat(9_999)}\n`
    for (let i = 0; i < 100; i += 1) output.write(line)
    expect(output.dropped).toBeGreaterThan(0)
    const { dropped } = output
    let text = ''
    for (let i = 0; i < 20; i += 1) {
      text += pipe.read()
      vi.runOnlyPendingTimers()
    }
    const lines = text.split('\n').filter(Boolean)
    expect(lines.filter((found) => found === line.trimEnd())).toHaveLength(100 - dropped)
    const notes = lines.filter((found) => found !== line.trimEnd())
    expect(notes.map((note) => JSON.parse(note))).toMatchObject([{ dropped_lines: dropped }])
    expect(output.dropped).toBe(dropped)
  },
)
