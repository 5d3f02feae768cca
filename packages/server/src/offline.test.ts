import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Configuration } from '@gatehouse/contract'
import { expect, onTestFinished, test, vi } from 'vitest'
import { openOffline } from './offline.ts'

const dataDirIn = async (dataDir: string) => {
  await using offline = await openOffline({ dataDir })
  const headers = { authorization: `Bearer ${offline.token}` }
  const url = 'http://gatehouse.localhost/api/configuration'
  const answer = await (await offline.fetch(new Request(url, { headers }))).json()
  return Configuration.parse(answer).settings.find(({ key }) => key === 'data_dir')
}

const makeFolder = (): string => {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-offline-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  return folder
}

test('a command without a server has its data directory from the flag that names it', async () => {
  const folder = makeFolder()
  expect(await dataDirIn(folder)).toMatchObject({ value: folder, source: '--data-dir' })
})

test('a command without a server has its data directory from the environment where that leads to it', async () => {
  const folder = makeFolder()
  vi.stubEnv('GATEHOUSE_DATA_DIR', folder)
  onTestFinished(() => void vi.unstubAllEnvs())
  expect(await dataDirIn(folder)).toMatchObject({
    value: folder,
    origin: 'environment',
    source: 'GATEHOUSE_DATA_DIR',
  })
})
