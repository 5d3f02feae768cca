import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { startService } from './start-service.ts'

type Input = Parameters<typeof startService>[0]

/** Starts a service where Node itself cannot be started. */
const startWithoutNode = (locate: Input['locate']): Promise<void> => {
  const dataDir = mkdtempSync(join(tmpdir(), 'gatehouse-start-'))
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
