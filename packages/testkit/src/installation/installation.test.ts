import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openInstallation } from './installation.ts'

test('begins without the files that another installation left behind', async () => {
  const left = await openInstallation()
  const file = join(left.workspaces, 'mailbot', 'left.txt')
  writeFileSync(file, 'left behind')
  await left[Symbol.asyncDispose]()
  await using next = await openInstallation()
  expect([next.workspaces, existsSync(file)]).toEqual([left.workspaces, false])
})
