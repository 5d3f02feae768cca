import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { makeTemporaryFolder } from '@gatehouse/testkit/temporary-folder'
import { expect, test } from 'vitest'
import { createCliKit } from './kit.ts'

async function* pressed(text: string) {
  yield* Array.from(text)
}

test('takes a value from the input or a file, whole but for the last line break', async () => {
  const kit = createCliKit()
  const line = ['vault', 'add', 'deploy_key', '--capability', 'git.*,network.http_request']
  const scope = ['--host=a.example', '--host', 'b.example', '--agent=mailbot']
  const input = ' first line\nsecond line \n'
  const first = await kit.gatehouse([...line, ...scope], { input })
  const file = join(makeTemporaryFolder(), 'key')
  writeFileSync(file, 'from a file\r\n')
  const second = await kit.gatehouse(['vault', 'add', 'other_key', '--file', file])
  expect(kit.sentTo('addSecret')).toEqual([
    {
      name: 'deploy_key',
      value: ' first line\nsecond line ',
      capabilities: ['git.*', 'network.http_request'],
      hosts: ['a.example', 'b.example'],
      agents: ['mailbot'],
    },
    { name: 'other_key', value: 'from a file' },
  ])
  expect([first.code, second.code]).toEqual([0, 0])
  expect(second.out).not.toContain('from a file')
})

test('reads what is typed without showing it', async () => {
  const kit = createCliKit()
  const { out, err, code } = await kit.gatehouse(['vault', 'add', 'typed_key'], {
    columns: 80,
    keys: pressed('hunter2x\u007f-hunter2\r'),
  })
  expect([code, kit.sentTo('addSecret')]).toMatchObject([0, [{ value: 'hunter2-hunter2' }]])
  expect(out + err).not.toContain('hunter')
  const ended = await kit.gatehouse(['vault', 'add', 'typed_key'], {
    columns: 80,
    keys: pressed('hun\u0003'),
  })
  expect([ended.code, kit.sentTo('addSecret').length]).toEqual([1, 1])
})

test('refuses a value as an argument, and none at all', async () => {
  const kit = createCliKit()
  const argument = await kit.gatehouse(['vault', 'add', 'key', 'hunter2-hunter2'], { input: 'x' })
  expect([argument.code, argument.err]).toEqual([2, expect.stringContaining('takes')])
  const nothing = await kit.gatehouse(['vault', 'add', 'key'], { input: '\n' })
  expect([nothing.code, nothing.err]).toEqual([2, expect.stringContaining('no value')])
  expect(kit.sentTo('addSecret')).toEqual([])
})

test('replaces only the lists that are given, and empties one by `none`', async () => {
  const kit = createCliKit()
  await kit.gatehouse(['vault', 'scope', 'github_token', '--agent', 'none', '--host', 'A.Example.'])
  expect(kit.sentTo('changeSecret')).toEqual([{ agents: [], hosts: ['A.Example.'] }])
  const shown = await kit.gatehouse(['vault', 'show', 'github_token', '--json'])
  expect(JSON.parse(shown.out)).toMatchObject({ agents: [], hosts: ['a.example'] })
  expect((await kit.gatehouse(['vault', 'scope', 'github_token'])).code).toBe(2)
})

test('sets a passphrase, changes it with the present one, and takes it away', async () => {
  const kit = createCliKit()
  await kit.gatehouse(['vault', 'passphrase'], { input: 'first passphrase\n' })
  await kit.gatehouse(['vault', 'passphrase'], { input: 'first passphrase\nsecond passphrase\n' })
  const short = await kit.gatehouse(['vault', 'passphrase'], { input: 'second passphrase\n' })
  expect(short.code).toBe(2)
  await kit.gatehouse(['vault', 'passphrase', '--remove'], { input: 'second passphrase\n' })
  expect(kit.sentTo('setVaultPassphrase')).toEqual([
    { passphrase: 'first passphrase' },
    { passphrase: 'second passphrase', current: 'first passphrase' },
    { passphrase: null, current: 'second passphrase' },
  ])
})

test('says by its exit code whether a use would be let through', async () => {
  const kit = createCliKit()
  const use = ['--capability', 'network.credentialed_request', '--host', 'api.github.com']
  const check = (agent: string) =>
    kit.gatehouse(['vault', 'check', 'github_token', '--agent', agent, ...use])
  expect((await check('mailbot')).code).toBe(0)
  expect((await check('coder')).code).toBe(4)
  expect((await kit.gatehouse(['vault', 'check', 'nothing', '--agent', 'a'])).code).toBe(2)
})
