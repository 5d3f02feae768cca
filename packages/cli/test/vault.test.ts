import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { AddSecret, SetVaultPassphrase } from '@gatehouse/contract'
import { fakeSecret } from '@gatehouse/testkit/fake-app'
import { expect, test } from 'vitest'
import { createCliKit } from './kit.ts'

async function* pressed(text: string) {
  yield* Array.from(text)
}

function recording() {
  const kit = createCliKit()
  const added: AddSecret[] = []
  kit.fake.app.addSecret = async (_op, secret) => {
    added.push(secret)
    return { ...fakeSecret, name: secret.name }
  }
  return { kit, added }
}

test('takes a value from the input or a file, whole but for the last line break', async () => {
  const { kit, added } = recording()
  const line = ['vault', 'add', 'deploy_key', '--capability', 'git.*,network.http_request']
  await kit.gatehouse([...line, '--host=a.example', '--host', 'b.example', '--agent=coder'], {
    input: ' first line\nsecond line \n',
  })
  const file = join(mkdtempSync(join(tmpdir(), 'gatehouse-test-')), 'key')
  writeFileSync(file, 'from a file\r\n')
  const second = await kit.gatehouse(['vault', 'add', 'other_key', '--file', file])
  expect(added).toEqual([
    {
      name: 'deploy_key',
      value: ' first line\nsecond line ',
      description: '',
      capabilities: ['git.*', 'network.http_request'],
      hosts: ['a.example', 'b.example'],
      agents: ['coder'],
    },
    expect.objectContaining({ name: 'other_key', value: 'from a file', hosts: [] }),
  ])
  expect(second.code).toBe(0)
  expect(second.out).not.toContain('from a file')
})

test('reads what is typed without showing it', async () => {
  const { kit, added } = recording()
  const { out, err, code } = await kit.gatehouse(['vault', 'add', 'typed_key'], {
    columns: 80,
    keys: pressed('hunter2x\u007f-hunter2\r'),
  })
  expect([code, added[0]?.value]).toEqual([0, 'hunter2-hunter2'])
  expect(out + err).not.toContain('hunter')
  const ended = await kit.gatehouse(['vault', 'add', 'typed_key'], {
    columns: 80,
    keys: pressed('hun\u0003'),
  })
  expect([ended.code, added.length]).toEqual([1, 1])
})

test('refuses a value as an argument, and none at all', async () => {
  const { kit, added } = recording()
  const argument = await kit.gatehouse(['vault', 'add', 'key', 'hunter2-hunter2'], { input: 'x' })
  expect([argument.code, argument.err]).toEqual([2, expect.stringContaining('takes')])
  const nothing = await kit.gatehouse(['vault', 'add', 'key'], { input: '\n' })
  expect([nothing.code, nothing.err]).toEqual([2, expect.stringContaining('no value')])
  expect(added).toEqual([])
})

test('replaces only the lists that are given, and empties one by `none`', async () => {
  const kit = createCliKit()
  const changes: unknown[] = []
  kit.fake.app.changeSecret = async (_op, change) => {
    changes.push(change)
    return fakeSecret
  }
  await kit.gatehouse(['vault', 'scope', 'github_token', '--agent', 'none', '--host', 'A.Example.'])
  expect(changes).toEqual([{ name: 'github_token', agents: [], hosts: ['a.example'] }])
  expect((await kit.gatehouse(['vault', 'scope', 'github_token'])).code).toBe(2)
})

test('sets a passphrase, changes it with the present one, and takes it away', async () => {
  const kit = createCliKit()
  const changes: SetVaultPassphrase[] = []
  let mode: 'key_file' | 'passphrase' = 'key_file'
  const vault = () => ({
    status: 'healthy' as const,
    locked: false,
    mode,
    secrets: 0,
    integrity: 'verified' as const,
    tampered: [],
    reason: null,
    remedy: null,
  })
  kit.fake.app.showVault = async () => vault()
  kit.fake.app.setVaultPassphrase = async (_op, change) => {
    changes.push(change)
    mode = change.passphrase === null ? 'key_file' : 'passphrase'
    return vault()
  }
  await kit.gatehouse(['vault', 'passphrase'], { input: 'first passphrase\n' })
  await kit.gatehouse(['vault', 'passphrase'], { input: 'first passphrase\nsecond passphrase\n' })
  const short = await kit.gatehouse(['vault', 'passphrase'], { input: 'second passphrase\n' })
  expect(short.code).toBe(2)
  await kit.gatehouse(['vault', 'passphrase', '--remove'], { input: 'second passphrase\n' })
  expect(changes).toEqual([
    { passphrase: 'first passphrase' },
    { passphrase: 'second passphrase', current: 'first passphrase' },
    { passphrase: null, current: 'second passphrase' },
  ])
})

test('says by its exit code whether a use would be let through', async () => {
  const kit = createCliKit()
  const check = (agent: string) =>
    kit.gatehouse(['vault', 'check', 'github_token', '--agent', agent, '--capability', 'git.push'])
  expect((await check('mailbot')).code).toBe(0)
  expect((await check('coder')).code).toBe(4)
  expect((await kit.gatehouse(['vault', 'check', 'nothing', '--agent', 'a'])).code).toBe(2)
})
