import { readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { makeTemporaryFolder } from '@gatehouse/testkit/temporary-folder'
import { expect, test } from 'vitest'
import { createCliKit } from './kit.ts'

test('puts a token into a new private file, and prints it nowhere', async () => {
  const file = join(makeTemporaryFolder(), 'newbot.token')
  const ran = await createCliKit().gatehouse([
    'agent',
    'create',
    'newbot',
    '--token-file',
    file,
    '--json',
  ])
  const token = (await readFile(file, 'utf8')).trimEnd()
  expect(token).toMatch(/^[0-9a-f]{64}$/)
  expect((await stat(file)).mode & 0o777).toBe(0o600)
  expect(ran.out + ran.err).not.toContain(token)
  expect(JSON.parse(ran.out)).toMatchObject({ agent: { name: 'newbot' }, token_file: file })
})

test('makes no agent where its token could not be kept, and no file where there is no agent', async () => {
  const place = makeTemporaryFolder()
  const file = join(place, 'taken')
  await writeFile(file, 'mine')
  const kit = createCliKit()
  const taken = await kit.gatehouse(['agent', 'create', 'newbot', '--token-file', file])
  expect(taken.code).toBe(1)
  await expect(kit.agent('newbot')).rejects.toMatchObject({ type: 'AgentNotFound' })
  expect(await readFile(file, 'utf8')).toBe('mine')
  const exists = ['agent', 'create', 'mailbot', '--token-file', join(place, 'new')]
  expect((await kit.gatehouse(exists)).code).toBe(1)
  expect(await readdir(place)).toEqual(['taken'])
})
