import { readdirSync, rmSync } from 'node:fs'
import { beforeAll, expect } from 'vitest'
import { makeOpenFolder } from './folders-of-run.mjs'

const { GATEHOUSE_TEST_DISK, GATEHOUSE_TEST_LEFT, GATEHOUSE_TEST_MEMORY_OF_RUN } = process.env
const disk = makeOpenFolder(GATEHOUSE_TEST_DISK)
const quick = makeOpenFolder(GATEHOUSE_TEST_MEMORY_OF_RUN)
process.env.TMPDIR = disk
process.env.GATEHOUSE_TEST_MEMORY = quick

const said = 'left in the folder for temporary files'

const clearUp = () => {
  process.env.TMPDIR = GATEHOUSE_TEST_DISK
  process.env.GATEHOUSE_TEST_MEMORY = GATEHOUSE_TEST_MEMORY_OF_RUN
  const left = [disk, quick].flatMap((folder) => {
    const names = readdirSync(folder)
    rmSync(folder, { recursive: true, force: true })
    return names
  })
  if (GATEHOUSE_TEST_LEFT === 'fails') expect(left, said).toEqual([])
  else if (left.length > 0) console.error(`${said}: ${left.join(', ')}`)
}

// Last of all hooks of the file: those that `beforeAll` returns come after `afterAll`, that of the first hook at the end.
beforeAll(() => clearUp)
