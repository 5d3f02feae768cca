import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { startService } from './start-service.ts'

type Input = Parameters<typeof startService>[0]

/** Starts a service where Node itself cannot be started; `holder` has the data. */
const startWithoutNode = (locate: Input['locate'], holder?: number): Promise<void> => {
  const dataDir = mkdtempSync(join(tmpdir(), 'gatehouse-start-'))
  if (holder) writeFileSync(join(dataDir, 'lock.pid'), `${holder}\n`, { mode: 0o600 })
  onTestFinished(() => rmSync(dataDir, { recursive: true }))
  const io = { env: {}, self: 'gatehouse' } as unknown as Input['io']
  const { execPath } = process
  process.execPath = join(dataDir, 'no-node')
  try {
    return startService({ dataDir, configFile: undefined, locate, io })
  } finally {
    process.execPath = execPath
  }
}

test('a service whose program cannot be started says so, and where its log is', async () => {
  await expect(startWithoutNode(async () => null)).rejects.toMatchObject({
    type: 'NotStarted',
    message: expect.stringMatching(/could not be started \(spawn .*no-node ENOENT\)/),
    recovery: [{ description: expect.stringMatching(/\/service\.log\.$/) }],
  })
})

test('the service of another process is used where it came first', async () => {
  let looks = 0
  const locate = async () => {
    looks += 1
    return looks < 3 ? null : new URL('http://127.0.0.1:7700')
  }
  await startWithoutNode(locate)
  expect(looks).toBe(3)
})

test('one that is slow to start is waited for as long as its process has the data, up to a minute', async () => {
  let ms = 0
  const now = vi.spyOn(performance, 'now').mockImplementation(() => ms)
  onTestFinished(() => now.mockRestore())
  /** Each look is a second later; the service listens at the given one. */
  const listensAt = (second: number) => async () => {
    ms += 1_000
    return ms < second * 1_000 ? null : new URL('http://127.0.0.1:7700')
  }
  const gone = 2 ** 22 + 1
  await startWithoutNode(listensAt(20), process.pid)
  ms = 0
  await expect(startWithoutNode(listensAt(20), gone)).rejects.toMatchObject({ type: 'NotStarted' })
  expect(ms).toBeLessThan(8_000)
  ms = 0
  await expect(startWithoutNode(listensAt(70), process.pid)).rejects.toMatchObject({
    type: 'NotStarted',
  })
  expect(ms).toBe(61_000)
})
