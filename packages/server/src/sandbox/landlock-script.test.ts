import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { expect, test } from 'vitest'
import { landlockScript } from './landlock-script.ts'

const machines = { x64: 'x86_64', arm64: 'aarch64' } as const
const machine = machines[process.arch as keyof typeof machines]

test.runIf(process.platform === 'linux' && machine && existsSync('/usr/bin/perl'))(
  'starts nothing where the kernel lacks a version of Landlock',
  () => {
    const args = ['99', '-', '-', '0', '0', '0', '0']
    const { status, stderr } = spawnSync('/usr/bin/perl', ['-', ...args], {
      input: landlockScript(machine),
      encoding: 'utf8',
      env: {},
    })
    expect(stderr).toMatch(/^gatehouse: landlock (?:\d+|off|none|refused: .*)\n$/)
    expect(status).toBe(125)
  },
)
