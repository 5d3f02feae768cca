import { closeSync, openSync } from 'node:fs'
import { text } from 'node:stream/consumers'
import { expect, onTestFinished, test } from 'vitest'
import { spawnLauncher } from './spawn-launcher.ts'

test.runIf(process.platform === 'linux')(
  'a launcher has nothing of the environment of the service',
  async () => {
    const filter = openSync('/dev/null', 'r')
    onTestFinished(() => closeSync(filter))
    process.env['GATEHOUSE_TEST_CANARY'] = 'CANARY-ENV'
    onTestFinished(() => void delete process.env['GATEHOUSE_TEST_CANARY'])
    const { stdout } = spawnLauncher('/usr/bin/env', [], { filter, behind: [] })
    if (!stdout) throw new Error('it has no output')
    expect(await text(stdout)).toBe('')
  },
)
