import { expect, test } from 'vitest'
import { createCliKit } from './kit.ts'

test('shows the unit for systemd, and changes nothing with --dry-run', async () => {
  const kit = createCliKit()
  const user = await kit.gatehouse(['setup', 'service', '--user', '--dry-run'])
  expect(user).toMatchObject({ code: 0, err: '' })
  expect(user.out).toContain('# /home/ana/.config/systemd/user/gatehouse.service\n')
  expect(user.out).toContain('ExecStart=/usr/bin/node /usr/bin/gatehouse serve\n')
  expect(user.out).toContain('# systemctl --user enable --now gatehouse.service')
  const json = ['setup', 'service', '--system', '--dry-run', '--json']
  const system = await kit.gatehouse([...json, '--passphrase-file', '/etc/gatehouse/secret'])
  expect(JSON.parse(system.out)).toMatchObject({
    scope: 'system',
    file: '/etc/systemd/system/gatehouse.service',
    unit: expect.stringContaining('LoadCredential=vault-passphrase:/etc/gatehouse/secret'),
    done: false,
  })
  expect(kit.operations).toEqual([])
})

test('a service is for the machine or for a person', async () => {
  const { code, err } = await createCliKit().gatehouse(['setup', 'service', '--system', '--user'])
  expect([code, err]).toEqual([2, expect.stringContaining('exclude each other')])
})
