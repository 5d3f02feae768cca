import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { hasProgram } from '@gatehouse/testkit/programs'
import { expect, test } from 'vitest'
import { serviceUnit, type UnitOptions } from './service-unit.ts'

const system: UnitOptions = {
  scope: 'system',
  command: [process.execPath, '/usr/lib/node_modules/gatehoused/packages/cli/bin/gatehouse.js'],
  dataDir: null,
  passphraseFile: '/etc/gatehouse/vault-passphrase',
}

/** systemd's own judgement of a unit; it need not run for that. */
const analyze = (unit: string, ...words: readonly string[]) => {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-unit-'))
  const file = join(folder, 'gatehouse.service')
  writeFileSync(file, unit)
  const { status, stdout, stderr } = spawnSync('systemd-analyze', [...words, file])
  rmSync(folder, { recursive: true })
  return { status, text: `${stdout}${stderr}` }
}

test('a unit of the machine has a user and a place of its own, and one of a person has neither', () => {
  const unit = serviceUnit(system)
  expect(unit).toContain('DynamicUser=yes\nUser=gatehouse\nStateDirectory=gatehouse\n')
  expect(unit).toContain('gatehouse.js serve --data-dir /var/lib/gatehouse\n')
  expect(unit).toContain('LoadCredential=vault-passphrase:/etc/gatehouse/vault-passphrase\n')
  expect(unit).toContain('WantedBy=multi-user.target')
  const own = serviceUnit({ ...system, scope: 'user', passphraseFile: null })
  expect(own).not.toMatch(/User=|StateDirectory|LoadCredential|ProtectSystem|--data-dir/)
  expect(own).toContain('WantedBy=default.target')
  expect(serviceUnit({ ...system, dataDir: '/srv/gate' })).toContain('ReadWritePaths=/srv/gate\n')
})

test('words of the command stay what they are', () => {
  const unit = serviceUnit({ ...system, scope: 'user', dataDir: '/home/ana/50% "mine" $HOME' })
  expect(unit).toContain('serve --data-dir "/home/ana/50%% \\"mine\\" $$HOME"\n')
})

test('leaves open what the sandbox for programs needs', () => {
  const unit = serviceUnit(system)
  // New namespaces, mounts in them, a /proc that nothing hides, and a name for the machine inside.
  expect(unit).not.toMatch(/RestrictNamespaces|ProtectProc|ProcSubset|ProtectHostname|PrivateUsers/)
  expect(unit).not.toMatch(/ProtectKernelTunables|ProtectKernelLogs|MemoryDenyWriteExecute/)
  expect(unit).toMatch(/^SystemCallFilter=.*@mount.*sethostname$/m)
})

test.skipIf(!hasProgram('systemd-analyze'))('systemd takes the unit, and rates it well', () => {
  // The program's file need not be here; systemd looks for the one that it starts.
  expect(analyze(serviceUnit(system), 'verify', '--man=no')).toEqual({ status: 0, text: '' })
  const user = serviceUnit({ ...system, scope: 'user', dataDir: '/srv/my gate' })
  expect(analyze(user, 'verify', '--man=no')).toEqual({ status: 0, text: '' })
  const rated = analyze(serviceUnit(system), 'security', '--offline=true', '--no-pager')
  const exposure = Number(/exposure level for \S+: ([\d.]+)/.exec(rated.text)?.[1])
  expect(exposure).toBeLessThan(4)
})
